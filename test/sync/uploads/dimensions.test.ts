import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/protocol/clock.ts'
import type { Picture } from '../../../src/protocol/picture/picture.ts'
import type { UploadRequest } from '../../../src/protocol/records.ts'
import { hostWith, type ImageHost } from '../../../src/remote/host.ts'
import type { EngineContext } from '../../../src/sync/context.ts'
import { DeclaredDimensions } from '../../../src/sync/uploads/dimensions.ts'
import { openDatabase } from '../../../src/synced/database.ts'
import { openSynced } from '../../../src/synced/synced.ts'
import { svg } from '../../pictures.ts'
import { bytes, exif, frame, jpeg, le16, le32 } from '../../protocol/bytes.ts'
import { audit, found } from '../audit/audit-stage.ts'
import { failure, imagesOn, openWorkshop, summary, unreachable } from '../workshop.ts'

const DAY_MS = 86_400_000
const turned: Picture = { format: 'jpeg', mime: 'image/jpeg', width: 40, height: 30, turned: true }
const upright: Picture = { format: 'jpeg', mime: 'image/jpeg', width: 40, height: 30 }
const scan: Picture = { format: 'tiff', mime: 'image/tiff', width: 40, height: 30 }
const sizeless: Picture = { format: 'svg', mime: 'image/svg+xml', width: null, height: null }

type Declared = 'nothing' | 'skip' | '40×30' | '30×40'

/** What the host answers to a declaration: a code of its refusal, or null when it takes the picture. */
type Host = (declared: Declared, picture: Picture) => string | null

/** A host as §4 has it, on which EXIF turns JPEGs or not. */
const of =
  (turns: boolean): Host =>
  (declared, picture) => {
    if (declared === 'skip') return null
    if (declared === 'nothing') return picture.format === 'jpeg' ? 'MISSING_WIDTH' : null
    return declared === (turns && picture.turned ? '30×40' : '40×30') ? null : 'DIMENSION_MISMATCH'
  }

/** A host that misses the dimensions of SVG and TIFF. */
const requiring: Host = (declared, picture) =>
  declared === 'nothing' ? 'MISSING_WIDTH' : of(false)(declared, picture)

function account(settings: Partial<Pick<EngineContext, 'dimensions' | 'uploadForm'>> = {}) {
  const synced = openSynced(openDatabase(':memory:'))
  onTestFinished(() => synced.close())
  let now = Date.parse('2026-11-24T12:00:00Z')
  const clock = { wall: () => now } as EngineContext['clock']
  const declare = (picture: Picture) =>
    new DeclaredDimensions(
      { synced, clock, dimensions: 'learn', uploadForm: 'credential', ...settings },
      picture,
      picture.mime,
    )
  return {
    declare,
    /** What was declared, try after try; the last was taken. */
    upload(picture: Picture, host: Host): Declared[] {
      const declaration = declare(picture)
      const tries: Declared[] = []
      for (;;) {
        tries.push(inShort(declaration.fields()))
        const code = host(tries.at(-1)!, picture)
        if (code === null) break
        const { failure: refusal } = failure('other_dimensions', code, 'send')
        if (!declaration.refused(refusal)) throw new Error(code)
      }
      synced.commitNow(tx => declaration.acknowledged(tx, now))
      return tries
    },
    learned: () => {
      const all = Object.entries(synced.meta.get('dimensions') ?? {})
      return Object.fromEntries(all.map(([mime, { reading }]) => [mime, reading]))
    },
    wait(ms: number) {
      now += ms
    },
  }
}

function inShort({ width, height, skip_dimension_check }: Partial<UploadRequest>): Declared {
  if (skip_dimension_check) return 'skip'
  return width === undefined ? 'nothing' : (`${width}×${height}` as Declared)
}

describe('the dimensions of a type', () => {
  it('are declared as stored, until the first turned picture shows that the host turns it', () => {
    const { upload, learned } = account()
    expect(upload(upright, of(true))).toEqual(['40×30'])
    expect(learned()).toEqual({})
    expect(upload(turned, of(true))).toEqual(['40×30', '30×40'])
    expect(upload(turned, of(true))).toEqual(['30×40'])
    expect(upload(upright, of(true))).toEqual(['40×30'])
    expect(learned()).toEqual({ 'image/jpeg': 'turned' })
  })

  it('are left out of SVG and TIFF, until the host misses them', () => {
    const { upload, learned } = account()
    expect(upload(scan, requiring)).toEqual(['nothing', '40×30'])
    expect(upload(scan, requiring)).toEqual(['40×30'])
    expect(upload(sizeless, of(false))).toEqual(['nothing'])
    expect(learned()).toEqual({ 'image/tiff': 'stored', 'image/svg+xml': 'undeclared' })
  })

  it('are the same turned and stored for a square, which teaches nothing', () => {
    const { upload, learned, declare } = account()
    const square = { ...turned, width: 40, height: 39 }
    expect(declare(square).decides()).toBe(false)
    upload(square, () => null)
    expect(learned()).toEqual({})
  })

  it('stay as they are learned after one corrupt picture, and two in a row', () => {
    const { upload, learned } = account()
    upload(turned, of(false))
    for (const corrupt of ['DIMENSION_MISMATCH', 'UNREADABLE_DIMENSION']) {
      const refuses: Host = declared => (declared === 'skip' ? null : corrupt)
      for (let pictures = 0; pictures < 2; pictures++) upload(turned, refuses)
      expect(upload(upright, of(false))).toEqual(['40×30'])
    }
    expect(learned()).toEqual({ 'image/jpeg': 'stored' })
  })

  it('are not declared otherwise where the host can not read them, nor where it calls them illegal', () => {
    const { upload } = account()
    for (const code of ['UNREADABLE_DIMENSION', 'INVALID_WIDTH'])
      expect(upload(turned, declared => (declared === 'skip' ? null : code))).toEqual(['40×30', 'skip'])
  })

  it('are learned anew after the host has changed its mind, also where upright pictures come between', () => {
    const { upload, learned } = account()
    upload(turned, of(false))
    const tries = Array.from({ length: 5 }, () => {
      upload(upright, of(true))
      return upload(turned, of(true)).length
    })
    expect(tries).toEqual([2, 2, 2, 1, 1])
    expect(learned()).toEqual({ 'image/jpeg': 'turned' })
  })

  it('are skipped once three pictures in a row were taken so alone, and tried again a day later', () => {
    const { upload, learned, wait } = account()
    const unable: Host = declared => (declared === 'skip' ? null : 'UNREADABLE_DIMENSION')
    const tries = () => upload(scan, unable).length
    expect([tries(), tries(), tries(), tries()]).toEqual([2, 2, 2, 1])
    wait(DAY_MS)
    expect([tries(), tries()]).toEqual([2, 1])
    wait(DAY_MS)
    expect(upload(scan, of(false))).toEqual(['nothing'])
    expect(learned()).toEqual({ 'image/tiff': 'undeclared' })
  })

  it('of a picture that has none to declare teach nothing of the others', () => {
    const { upload, learned } = account()
    const sized = { ...sizeless, width: 40, height: 30 }
    upload(sized, requiring)
    expect(upload(sizeless, requiring)).toEqual(['skip'])
    for (const unread of [1, 2, 3, 4])
      expect(upload({ ...upright, width: null, height: null }, of(true)), `${unread}`).toEqual(['skip'])
    expect(learned()).toEqual({ 'image/svg+xml': 'stored' })
  })

  it('are what the config says, with skip as the second try', () => {
    const stored = account({ dimensions: 'stored' })
    for (let picture = 0; picture < 3; picture++)
      expect(stored.upload(turned, of(true))).toEqual(['40×30', 'skip'])
    // A host that refuses what the config says costs no further picture a second credential.
    expect(stored.learned()).toEqual({ 'image/jpeg': 'skip' })
    expect(stored.upload(turned, of(true))).toEqual(['skip'])
    const turnedOnes = account({ dimensions: 'turned' })
    expect(turnedOnes.upload(turned, of(true))).toEqual(['30×40'])
    expect(turnedOnes.upload(upright, of(true))).toEqual(['40×30'])
    expect(turnedOnes.upload(scan, requiring)).toEqual(['nothing', '40×30'])
    expect(turnedOnes.upload(scan, requiring)).toEqual(['40×30'])
    for (const none of [account({ dimensions: 'skip' }), account({ uploadForm: 'presign' })]) {
      expect([turned, scan, upright].flatMap(each => none.upload(each, of(true)))).toEqual(
        Array(3).fill('skip'),
      )
      expect([none.declare(turned).decides(), none.learned()]).toEqual([false, {}])
    }
  })

  it('are found out by one picture at a time, while they are not known or in doubt', () => {
    const { upload, declare } = account()
    const decide = () => [turned, upright, scan].map(picture => declare(picture).decides())
    expect(decide()).toEqual([true, false, true])
    upload(turned, of(true))
    upload(scan, of(true))
    expect(decide()).toEqual([false, false, false])
    upload(turned, of(false))
    expect(decide()).toEqual([true, false, false])
    upload(turned, of(true))
    expect(decide()).toEqual([false, false, false])
  })
})

/** The host, which writes down how dimensions are declared, credential by credential. */
function writingDown(host: ImageHost, declared: Declared[]): ImageHost {
  return hostWith(host, {
    requestUpload(request, signal) {
      declared.push(inShort(request))
      return host.requestUpload(request, signal)
    },
  })
}

const WIDE = 1000
const HIGH = 30

/** The nth JPEG that EXIF turns on its side. */
const turnedJpeg = (n: number) => jpeg(exif(6), frame(0xc0, WIDE + n, HIGH))

const drawing = (n: number) =>
  svg(`<svg xmlns="http://www.w3.org/2000/svg" width="${WIDE + n}" height="${HIGH}"/>`).bytes

/** The directory of a TIFF alone. */
function tiff(n: number): Buffer {
  const long = (tag: number, value: number) => bytes(le16(tag), le16(4), le32(1), le32(value))
  return bytes('II', le16(42), le32(8), le16(2), long(256, WIDE + n), long(257, HIGH), le32(0))
}

const APPLIES_EXIF = { readings: { dimensions: 'turned' } } as const

describe('a host that applies EXIF', () => {
  it('takes 1,000 turned JPEGs one after the other for at most 1,005 credentials', () => {
    const { upload } = account()
    const tries = Array.from({ length: 1000 }, () => upload(turned, of(true)).length)
    expect(tries.reduce((sum, each) => sum + each)).toBeLessThanOrEqual(1005)
  })

  it('takes 150 turned JPEGs beside each other for at most 155, and none of them looks changed', async () => {
    const workshop = await openWorkshop({}, APPLIES_EXIF)
    for (let n = 0; n < 150; n++) workshop.write(`${n}.jpg`, turnedJpeg(n))
    const declared: Declared[] = []
    await workshop.pass({ host: writingDown(workshop.host, declared), concurrency: 8 })
    expect(summary(workshop)).toMatchObject({ synced: 150, failed: 0 })
    expect(declared.length).toBeLessThanOrEqual(155)
    expect(declared).not.toContain('skip')
    await audit(workshop)
    expect(found(workshop)).toEqual([])
  })

  it('lists turned what was recorded as stored: an upload in doubt is found all the same', async () => {
    const workshop = await openWorkshop({}, APPLIES_EXIF)
    workshop.write('0.jpg', turnedJpeg(0))
    const { fetchDelivered } = { fetchDelivered: unreachable }
    const losing = hostWith(workshop.host, {
      async send(...picture) {
        const sent = await workshop.host.send(...picture)
        return sent.ok ? failure('find_out', 'HOST_ANSWER', 'send') : sent
      },
      fetchDelivered,
    })
    await workshop.pass({ host: losing })
    expect(summary(workshop)).toMatchObject({ uncertain: 1 })
    const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + 3_600_000 }
    await workshop.pass({ clock, host: hostWith(workshop.host, { fetchDelivered }) })
    expect(summary(workshop)).toMatchObject({ linked: 1, uncertain: 0 })
    expect(await imagesOn(workshop)).toEqual(['0.jpg'])
  })
})

it.each([
  ['at step 1', { exempt: 'none' }],
  ['at the upload node', { undeclared: 'nothing' }],
] as const)(
  'a host that misses the dimensions of SVG and TIFF %s refuses one picture of each type',
  async (_where, readings) => {
    const workshop = await openWorkshop({}, { readings })
    for (let n = 0; n < 20; n++) {
      workshop.write(`${n}.svg`, drawing(n))
      workshop.write(`${n}.tif`, tiff(n))
    }
    const declared: Declared[] = []
    await workshop.pass({ host: writingDown(workshop.host, declared), concurrency: 8 })
    expect(summary(workshop)).toMatchObject({ synced: 40, failed: 0 })
    expect(declared.filter(each => each === 'nothing')).toHaveLength(2)
    expect(declared).toHaveLength(42)
  },
)
