import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync, inflateSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { png } from '../../pictures.ts'
import { pngChunk } from '../../protocol/bytes.ts'
import { photo } from '../../sync/delivered/altering-host.ts'
import { startAlteringProxy } from '../stage/altering-proxy.ts'
import { daemonHere, startAlbumd } from '../stage/process.ts'
import { QUICK, type Stage, setStage } from '../stage/stage.ts'

const PHOTOS = [1, 2, 3, 4].map(photo)
type Kind = 'strip' | 'pack' | 'encode' | 'turn' | 'shrink'
const madeBy = (kind: Kind) => (sent: Buffer) => PHOTOS.find(photo => photo.sent.equals(sent))?.[kind] ?? sent

/** Four photos on a host that alters them so. */
async function photosOn(
  kind: Kind,
  alter: (sent: Buffer) => Buffer | Promise<Buffer> = madeBy(kind),
): Promise<Stage> {
  const stage = await setStage()
  const base_url = await startAlteringProxy(stage.baseUrl, alter)
  stage.configure({
    host: { base_url, api_key_file: 'api-key', requests_per_second: QUICK },
    deletions: { grace: '0', hold_min: 2, hold_above: '1%' },
  })
  for (const [n, { sent }] of PHOTOS.entries()) stage.write(`${n}.jpg`, sent)
  expect(await stage.pass()).toMatchObject({ exit_code: 0, uploaded: 4 })
  return stage
}

const NAMES = PHOTOS.map((_, n) => `${n}.jpg`)
const at = (folder: string) => NAMES.map(name => readFileSync(join(folder, name)))
const made = (kind: Kind) => PHOTOS.map(photo => photo[kind])

/** The disk with the originals died, and what was restored takes their place. */
function putInPlace(stage: Stage, back: string): void {
  for (const name of NAMES) {
    rmSync(join(stage.pictures, name), { force: true })
    renameSync(join(back, name), join(stage.pictures, name))
  }
}

async function nothingIsSent(stage: Stage): Promise<void> {
  const before = await stage.listing()
  expect(await stage.pass()).toMatchObject({ exit_code: 0, uploaded: 0, deleted: 0 })
  expect(await stage.listing()).toEqual(before)
  expect(await stage.status()).toMatchObject({ mirrors: [{ synced: 4, pending_uploads: 0 }] })
}

it.each([
  ['strip', 0, { stripped: 4, turned: 4, packed: 0, encoded: 0 }],
  ['pack', 0, { stripped: 0, turned: 4, packed: 4, encoded: 0 }],
  ['encode', 3, { stripped: 0, turned: 0, packed: 0, encoded: 4 }],
  ['turn', 3, { stripped: 0, turned: 0, packed: 0, encoded: 4 }],
  ['shrink', 3, { stripped: 0, turned: 0, packed: 0, encoded: 4 }],
] as const)('what a host has altered (%s) is restored, and counts as mirrored', async (kind, code, how) => {
  const stage = await photosOn(kind)
  const [back, again] = [join(stage.home, 'back'), join(stage.home, 'again')]
  expect(await stage.json('restore', back)).toMatchObject({
    exit_code: code,
    restored: 4,
    missing: 0,
    ...how,
  })
  expect(at(back)).toEqual(made(kind))
  putInPlace(stage, back)
  await nothingIsSent(stage)

  // A second restore gives the same, also from the host's listing and as of now.
  expect(await stage.json('restore', again)).toMatchObject({ exit_code: code, restored: 4, ...how })
  expect(at(again)).toEqual(made(kind))
  const listed = join(stage.home, 'listed')
  expect(await stage.json('restore', listed, '--from-host')).toMatchObject({ restored: 4, ...how })
  expect(at(join(listed, 'Photos'))).toEqual(made(kind))
  rmSync(join(stage.pictures, '3.jpg'))
  expect(await stage.json('restore', stage.pictures, '--at', '0m')).toMatchObject({ restored: 1, there: 3 })
  await nothingIsSent(stage)
})

it.each(['strip', 'encode', 'shrink'] as const)(
  'what a host has altered (%s) is had from its listing without a state, as no proved original',
  async kind => {
    const stage = await photosOn(kind)
    rmSync(join(stage.home, 'state'), { recursive: true })
    const listed = join(stage.home, 'listed')
    const had = { exit_code: 3, restored: 4, missing: 0, unproved: 4, encoded: 4 }
    expect(await stage.json('restore', listed, '--from-host')).toMatchObject(had)
    expect(at(join(listed, 'Photos'))).toEqual(made(kind))
  },
)

it('pictures with nothing to take away that a host packs anew are restored whole, and one of other pixels is said to be none', async () => {
  const sent = [10, 20, 30].map(shade => png(20, 30, shade).bytes)
  let dull: Buffer | null = null
  const stage = await photosOn('pack', bytes => {
    if (dull?.equals(bytes)) return repacked(png(20, 30, 99).bytes)
    return sent.some(each => each.equals(bytes)) ? repacked(bytes) : madeBy('pack')(bytes)
  })
  for (const [n, bytes] of sent.entries()) {
    stage.write(`bare/${n}.png`, bytes)
    await stage.pass()
  }
  expect(await stage.status()).toMatchObject({ delivery: { jpeg: 'packed anew', png: 'packed anew' } })
  const whole = { exit_code: 0, restored: 7, missing: 0, packed: 7, encoded: 0 }
  expect(await stage.json('restore', join(stage.home, 'back'))).toMatchObject(whole)
  dull = sent[2]!
  const other = { exit_code: 3, restored: 7, missing: 0, packed: 6, encoded: 1 }
  expect(await stage.json('restore', join(stage.home, 'again'))).toMatchObject(other)
})

/** The same pixels in a smaller PNG. */
function repacked(picture: Buffer): Buffer {
  const at = picture.indexOf('IDAT')
  const pixels = inflateSync(picture.subarray(at + 4, at + 4 + picture.readUInt32BE(at - 4)))
  const end = picture.subarray(picture.indexOf('IEND') - 4)
  return Buffer.concat([
    picture.subarray(0, at - 4),
    pngChunk('IDAT', deflateSync(pixels, { level: 9 })),
    end,
  ])
}

it('what was restored moves, and is copied, as what was sent', async () => {
  const stage = await photosOn('strip')
  const back = join(stage.home, 'back')
  await stage.json('restore', back)
  putInPlace(stage, back)
  await nothingIsSent(stage)
  mkdirSync(join(stage.pictures, 'moved'))
  for (const name of NAMES) renameSync(join(stage.pictures, name), join(stage.pictures, 'moved', name))
  // Were they no moves, so many deletions would be held.
  expect(await stage.pass()).toMatchObject({ exit_code: 0, uploaded: 4, deleted: 4 })
  expect(await stage.paths()).toEqual(NAMES.map(name => `Photos/moved/${name}`))
  await nothingIsSent(stage)
  const again = join(stage.home, 'again')
  expect(await stage.json('restore', again)).toMatchObject({ exit_code: 0, restored: 4 })
  expect(at(join(again, 'moved'))).toEqual(made('strip'))
  writeFileSync(join(stage.pictures, 'copy.jpg'), PHOTOS[0]!.strip)
  expect(await stage.pass()).toMatchObject({ exit_code: 0, uploaded: 1, deleted: 0 })
})

it('is recorded by the daemon where one runs', async () => {
  const stage = await photosOn('encode')
  const daemon = await daemonHere(stage)
  await daemon.told('scan_finished')
  const back = join(stage.home, 'back')
  expect(await stage.json('restore', back)).toMatchObject({ exit_code: 3, encoded: 4, not_recorded: null })
  putInPlace(stage, back)
  expect(await daemon.stop()).toBe(0)
  await nothingIsSent(stage)
})

it('is recorded before the file appears, so that a kill between them loses nothing', async () => {
  let during = (_sent: Buffer): unknown => null
  const stage = await photosOn('strip', async sent => {
    await during(sent)
    return madeBy('strip')(sent)
  })
  const [back, other] = [join(stage.home, 'back'), join(stage.home, 'other')]
  // Killed in the middle, with pictures that are there and one that never comes.
  during = sent => PHOTOS[3]!.sent.equals(sent) && new Promise(() => {})
  const killed = startAlbumd(stage, ['restore', back])
  await expect.poll(() => NAMES.filter(name => existsSync(join(back, name)))).toHaveLength(3)
  killed.kill('SIGKILL')
  expect(await killed.ended).toMatchObject({ signal: 'SIGKILL' })
  during = () => null
  expect(await stage.json('restore', back)).toMatchObject({ restored: 1, there: 3, stripped: 4 })

  // What comes in a picture's way at the last moment keeps the file from its place, and not the record.
  const fresh = await photosOn('strip', async sent => {
    if (existsSync(other)) mkdirSync(join(other, '0.jpg'), { recursive: true })
    return madeBy('strip')(sent)
  })
  expect(await fresh.json('restore', other)).toMatchObject({
    problems: [{ code: 'IN_THE_WAY' }],
    restored: 3,
  })
  rmSync(join(other, '0.jpg'), { recursive: true })
  writeFileSync(join(other, '0.jpg'), PHOTOS[0]!.strip)
  for (const restored of [back, other]) expect(at(restored)).toEqual(made('strip'))
  putInPlace(stage, back)
  putInPlace(fresh, other)
  await nothingIsSent(stage)
  await nothingIsSent(fresh)
})
