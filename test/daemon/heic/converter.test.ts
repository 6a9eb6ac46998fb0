import { hash as hashOf } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { HeicConverter } from '../../../src/daemon/heic/converter.ts'
import { findLibHeif } from '../../../src/daemon/heic/libheif.ts'
import { HEIC_PROBLEMS, type HeicProblemCode } from '../../../src/daemon/heic/problem.ts'
import type { WorkerOptions } from '../../../src/daemon/worker-process.ts'
import { openPicture } from '../../../src/local/picture-file.ts'
import type { SentPicture } from '../../../src/local/sent-picture.ts'
import { sourceOfBytes } from '../../../src/protocol/byte-reader.ts'
import type { Strip } from '../../../src/protocol/picture/stripped/rules.ts'
import { stripped } from '../../../src/protocol/picture/stripped/stripped.ts'
import { codeOf, inWords, reasonIn } from '../../../src/words/reasons.ts'
import { be32, bytes } from '../../protocol/bytes.ts'
import {
  alphaOf,
  BLUE,
  coded,
  exif,
  grid,
  HALVES,
  heic,
  type Item,
  icc,
  nclx,
  RED,
  size,
  turned,
} from '../../protocol/heics.ts'
import { BIG, cameraTags, PLACES, TAKEN, tiffOf } from '../../protocol/stripped/samples.ts'
import { tempFolder } from '../../temp-folder.ts'

let library = findLibHeif()
const STATE = mkdtempSync(join(tmpdir(), 'albumd-test-'))
/** Most tests use one process, because it takes its time to start. */
const CONVERTER = new HeicConverter(join(STATE, 'made.jpg'), () => library)
afterAll(() => {
  CONVERTER.stop()
  rmSync(STATE, { recursive: true })
})

/** What is sent of a file, or which problem it has. `meanwhile`: happens once the file was read. */
async function sent(
  converter: HeicConverter,
  root: string,
  { keep = 'location', meanwhile = () => {} }: { keep?: Strip; meanwhile?: (file: string) => void } = {},
  signal = new AbortController().signal,
): Promise<Partial<SentPicture> & { code: string; detail?: string; again?: boolean }> {
  const [path, changed] = ['a.heic', () => new Error('changed')]
  const open = await openPicture(root, path, { changed })
  onTestFinished(() => open.close())
  meanwhile(join(root, path))
  const found = await converter.sending(keep, changed)(open, { root, path }, signal)
  if (typeof found === 'object') return { ...found, code: 'made' }
  const code = CODES.find(code => reasonIn(found, `heic_${code}`))!
  const again = codeOf(found) === 'not_converted_now'
  return { code, detail: inWords(reasonIn(found, `heic_${code}`)!), again }
}
const CODES = Object.keys(HEIC_PROBLEMS) as HeicProblemCode[]

function setConverter(options?: WorkerOptions) {
  const [mirror, state] = [tempFolder(), options ? tempFolder() : STATE]
  const converter = options ? new HeicConverter(join(state, 'made.jpg'), findLibHeif, options) : CONVERTER
  if (options) onTestFinished(() => converter.stop())
  /** Converts a file of these bytes. */
  const convert = async (file: Uint8Array, keep: Strip = 'location') => {
    writeFileSync(join(mirror, 'a.heic'), file)
    const found = await sent(converter, mirror, { keep })
    expect(readdirSync(state)).toEqual([])
    const { source, size = 0 } = found
    return { ...found, jpeg: source ? Buffer.from(await source.read(0, size)) : null }
  }
  const why = async (file: Uint8Array) => (await convert(file)).code
  const made = async (file: Uint8Array, keep?: Strip) => {
    const { jpeg, ...found } = await convert(file, keep)
    if (jpeg === null) throw new Error(JSON.stringify(found))
    return jpeg
  }
  return { mirror, converter, convert, made, why }
}

/** The colour of one pixel, in steps of 64. */
async function colourAt(jpeg: Buffer, left: number, top: number): Promise<number[]> {
  const pixel = sharp(jpeg).extract({ left, top, width: 1, height: 1 }).removeAlpha()
  return [...(await pixel.raw().toBuffer())].map(value => Math.round(value / 64))
}
const [IS_RED, IS_BLUE, IS_GREEN, IS_STRAW, IS_WHITE] = [
  [3, 1, 1],
  [1, 1, 3],
  [0, 1, 1],
  [3, 3, 2],
  [4, 4, 4],
]

it('makes a JPEG, and says what it is and who made it', async () => {
  const { convert } = setConverter()
  const found = await convert(heic([coded(RED)]))
  const hash = hashOf('sha256', found.jpeg!, 'buffer')
  const how = expect.stringMatching(/^jpeg92\.location\.libheif 1\.\d+\.\d+, libvips \d+\.\d+\.\d+$/)
  expect(found).toMatchObject({ picture: { format: 'jpeg', width: 64, height: 64 }, how, hash })
  const { format, chromaSubsampling, exif, icc } = await sharp(found.jpeg!).metadata()
  expect({ format, chromaSubsampling, exif, icc }).toEqual({ format: 'jpeg', chromaSubsampling: '4:4:4' })
  expect(await colourAt(found.jpeg!, 32, 32)).toEqual(IS_RED)
  expect(await convert(heic([coded(RED)]))).toMatchObject({ hash })
})

it('takes the primary picture, wherever it is, and puts its tiles together', async () => {
  const { made } = setConverter()
  const second = await made(heic([coded(RED), coded(BLUE)], { primary: 2 }))
  expect(await colourAt(second, 32, 32)).toEqual(IS_BLUE)
  const tiled = await made(
    heic([coded(RED), coded(BLUE), grid(100, 64, [1, 2])], { primary: 3, brand: 'mif1' }),
  )
  expect(await sharp(tiled).metadata()).toMatchObject({ width: 100, height: 64 })
  for (const y of [0, 32, 63]) {
    expect(await colourAt(tiled, 10, y)).toEqual(IS_RED)
    expect(await colourAt(tiled, 90, y)).toEqual(IS_BLUE)
  }
})

it('turns the pixels upright, and says nothing more of it', async () => {
  const { convert } = setConverter()
  const tags = tiffOf(BIG, cameraTags(6))
  const found = await convert(
    heic([coded(RED), coded(HALVES), exif(tags, 3), grid(128, 64, [1, 2], turned(1))], { primary: 4 }),
  )
  expect(found).toMatchObject({ picture: { width: 64, height: 128 } })
  expect((await sharp(found.jpeg!).metadata()).orientation).toBeUndefined()
  // The left comes to the bottom.
  expect(await colourAt(found.jpeg!, 32, 127)).toEqual(IS_RED)
  expect(await colourAt(found.jpeg!, 32, 40)).toEqual(IS_GREEN)
  expect(await colourAt(found.jpeg!, 32, 10)).toEqual(IS_STRAW)
})

it('keeps the profile, and of the metadata what may stay', async () => {
  const { made } = setConverter()
  const base = { create: { width: 1, height: 1, channels: 3, background: '#fff' } } as const
  const p3 = (await sharp(await sharp(base).withIccProfile('p3').png().toBuffer()).metadata()).icc!
  // More than fits into one segment.
  const profile = Buffer.concat([p3], 100_000)
  const file = heic([coded(RED, icc(profile)), exif(tiffOf(BIG, cameraTags(6)), 1)])
  for (const keep of ['location', 'all'] as const) {
    const jpeg = await made(file, keep)
    expect((await sharp(jpeg).metadata()).icc).toEqual(profile)
    for (const text of TAKEN) expect(jpeg.includes(text), text).toBe(keep === 'location')
    for (const text of PLACES) expect(jpeg.includes(text), text).toBe(false)
    expect(await stripped('jpeg', sourceOfBytes(jpeg), keep)).toMatchObject({
      hash: hashOf('sha256', jpeg, 'buffer'),
    })
  }
})

it('shows white where the picture is transparent', async () => {
  const { made } = setConverter()
  const alpha: Item = { ...coded(HALVES, alphaOf), to: { as: 'auxl', items: [1] } }
  const jpeg = await made(heic([coded(RED), alpha]))
  expect(await colourAt(jpeg, 60, 32)).not.toEqual(IS_WHITE)
  expect((await colourAt(jpeg, 10, 32)).every(value => value >= 3)).toBe(true)
})

it('refuses a transparent picture that is mixed with black already', async () => {
  const { why } = setConverter()
  const alpha: Item = { ...coded(HALVES, alphaOf), to: { as: 'auxl', items: [1] } }
  expect(await why(heic([{ ...coded(RED), to: { as: 'prem', items: [2] } }, alpha]))).toBe('not_understood')
})

it('refuses what is not whole', async () => {
  const { why } = setConverter()
  const whole = heic([coded(RED), coded(HALVES), grid(128, 64, [1, 2])], { primary: 3 })
  const files = {
    half: whole.subarray(0, whole.length / 2),
    'without its last byte': whole.subarray(0, -1),
    'without its data': whole.subarray(0, whole.indexOf('mdat') - 4),
    'with something behind it': bytes(whole, 'TRAILER'),
    'with zeros behind it': bytes(whole, Buffer.alloc(4096)),
    'with a hole': heic([coded(bytes(be32(4096 + 26), RED.subarray(4), Buffer.alloc(4096)))]),
    'with a hole that begins before': heic([coded(bytes(RED, Buffer.alloc(1000)))]),
  }
  for (const [name, file] of Object.entries(files)) expect(await why(file), name).toBe('not_whole')
  // A last box without a length ends where the file ends.
  const open = Buffer.from(whole)
  open.writeUInt32BE(0, whole.indexOf('mdat') - 4)
  expect(await why(open)).toBe('made')
  expect(await why(open.subarray(0, -30))).toBe('not_whole')
})

it('refuses what a JPEG of sRGB, or with a profile, does not show', async () => {
  const { why } = setConverter()
  expect(await why(heic([coded(RED, nclx(1, 13))]))).toBe('made')
  for (const transfer of [16, 18]) expect(await why(heic([coded(RED, nclx(9, transfer))]))).toBe('hdr')
  expect(await why(heic([coded(RED, nclx(12, 13))]))).toBe('not_understood')
  const grey = Buffer.concat([Buffer.alloc(16), Buffer.from('GRAY')], 200)
  expect(await why(heic([coded(RED, icc(grey))]))).toBe('not_understood')
})

it('refuses more than it decodes, and what is not coded by HEVC', async () => {
  const { why } = setConverter()
  const many = Array.from({ length: 126 * 125 }, () => 1)
  expect(await why(heic([coded(RED), grid(8001, 8000, many)], { primary: 2 }))).toBe('too_large')
  expect(await why(Buffer.concat([heic([coded(RED)])], 2 ** 26 + 1))).toBe('too_large')
  expect(await why(heic([coded(RED)], { primary: 7 }))).toBe('not_understood')
  const jpegInside: Item = {
    type: 'jpeg',
    data: Buffer.from('\xff\xd8\xff', 'latin1'),
    properties: [size(64, 64)],
  }
  expect(await why(heic([jpegInside]))).toBe('not_understood')
})

it('refuses a file that is gone or another one', async () => {
  const { mirror, converter } = setConverter()
  writeFileSync(join(mirror, 'a.heic'), heic([coded(RED)]))
  for (const meanwhile of [(file: string) => writeFileSync(file, heic([coded(BLUE)])), rmSync])
    expect(await sent(converter, mirror, { meanwhile })).toMatchObject({ code: 'changed', again: true })
})

it('says that the library is missing, or another one', async () => {
  const { convert } = setConverter()
  onTestFinished(() => {
    library = findLibHeif()
  })
  library = null
  expect(await convert(heic([coded(RED)]))).toMatchObject({ code: 'no_library' })
  library = join(tempFolder(), 'old.cjs')
  writeFileSync(library, 'module.exports = { _heif_get_version_number: () => 0x01130800 }')
  CONVERTER.stop()
  expect(await convert(heic([coded(RED)]))).toMatchObject({
    code: 'no_library',
    detail: expect.stringContaining('libheif 1.19.8'),
  })
})

it('ends a process that takes too long or too much memory, and starts another', async () => {
  const slow = setConverter({ withinMs: 1 })
  expect(await slow.why(heic([coded(RED)]))).toBe('too_slow')
  expect(await slow.why(heic([coded(RED)]))).toBe('too_slow')
  // Node itself takes more.
  expect(await setConverter({ memory: 100_000 }).why(heic([coded(RED)]))).toBe('ended')
  library = join(tempFolder(), 'broken.cjs')
  writeFileSync(library, 'process.kill(process.pid, "SIGSEGV")')
  CONVERTER.stop()
  const { why, convert } = setConverter()
  expect(await convert(heic([coded(RED)]))).toMatchObject({
    code: 'ended',
    detail: expect.stringContaining('SIGSEGV'),
  })
  library = findLibHeif()
  expect(await why(heic([coded(RED)]))).toBe('made')
})

it('ends what is under way, and what waits, when nobody wants it any more', async () => {
  const { mirror, converter } = setConverter({})
  const file = heic([coded(RED)])
  writeFileSync(join(mirror, 'a.heic'), file)
  const cut = new AbortController()
  let asked = 0
  const meanwhile = () => {
    if (++asked === 2) setImmediate(() => cut.abort())
  }
  const both = [1, 2].map(() => sent(converter, mirror, { meanwhile }, cut.signal))
  for (const found of await Promise.all(both)) expect(found).toMatchObject({ code: 'ended' })
  expect(await sent(converter, mirror)).toMatchObject({ code: 'made' })
})

it('says that there is no room', async () => {
  const converter = new HeicConverter(join(tempFolder(), 'missing', 'made.jpg'))
  onTestFinished(() => converter.stop())
  const mirror = tempFolder()
  const file = heic([coded(RED)])
  writeFileSync(join(mirror, 'a.heic'), file)
  expect(await sent(converter, mirror)).toMatchObject({ code: 'no_room' })
})

it('makes only problems of mutants, and goes on', async () => {
  const { why, converter } = setConverter()
  const seeds = [
    heic([coded(RED), coded(HALVES), exif(tiffOf(BIG, cameraTags(6)), 4), grid(100, 64, [1, 2], turned(3))], {
      primary: 4,
    }),
    heic([coded(RED, nclx(1, 13)), coded(BLUE)], { primary: 2 }),
  ]
  const codes = new Set<string>()
  let state = 1
  const next = (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  for (let n = 0; n < 200; n++) {
    const mutant = Buffer.from(seeds[n % 2]!)
    for (let times = 1 + next(3); times > 0; times--) mutant[next(mutant.length)] = next(256)
    codes.add(await why(mutant))
  }
  expect([...codes].filter(code => code !== 'made' && !(code in HEIC_PROBLEMS))).toEqual([])
  expect(codes).toContain('made')
  expect(codes).toContain('not_understood')
  converter.stop()
  expect(await why(seeds[1]!)).toBe('made')
})
