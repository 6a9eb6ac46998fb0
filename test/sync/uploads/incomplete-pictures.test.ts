import { describe, expect, it } from 'vitest'
import { FileAges } from '../../../src/sync/clock.ts'
import { IncompletePictures } from '../../../src/sync/uploads/incomplete-pictures.ts'
import type { FileRow } from '../../../src/synced/tables/files.ts'
import { because } from '../../../src/words/reasons.ts'
import { VirtualClock } from '../../daemon/virtual-clock.ts'
import { png } from '../../pictures.ts'
import { openWith, summary, type Workshop, workshopWith } from '../workshop.ts'

const AFTER_MS = 600_000

type Look = Parameters<IncompletePictures['judge']>[2]['look']

/** What becomes of a picture that was written so long ago. `known`: for how long the clock is known not to have leapt. */
function judge(
  age: number,
  {
    action = 'leave' as 'leave' | 'send',
    known = Number.POSITIVE_INFINITY,
    isRemote = false,
    afterMs = AFTER_MS,
  } = {},
) {
  const clock = new VirtualClock()
  clock.jump(1_800_000_000_000)
  const ages = new FileAges(null)
  const look = { size: 1, mtime: 0, ctime: (clock.wall() - age) * 1000, ino: 1 }
  ages.likelySince = ctime => Math.max(0, Math.min(clock.wall() - ctime / 1000, known))
  const pictures = new IncompletePictures({ afterMs, action })
  return pictures.judge(
    { settleMs: 1000, clock, ages, disk: { isRemote: () => isRemote } },
    jobOf(look),
    read(look),
  )
}

const CUT = { kind: 'missing', code: 'cut', part: 'chunk IDAT', at: 600 } as const
const ZEROS = { kind: 'odd', code: 'zeros', part: 'pixels', at: 600 } as const
const NO_END = { kind: 'odd', code: 'no_end', part: 'IEND', at: 600 } as const
const WHY = because('flaw_cut', { part: 'chunk IDAT', at: 600 })

const read = (look: Look) => ({
  verdict: CUT,
  look,
  hash: Buffer.alloc(32),
})

const fileOf = (seen: object) => ({ folder: 1, name: 'a.png', ...seen }) as FileRow

const jobOf = (seen: object) => ({ file: fileOf(seen), root: '/r', path: 'a.png' })

/** Judges pictures of a local disk before our eyes. `written`: how long before now. */
function watching(afterMs: number, { size = 1, written = 0 } = {}) {
  const clock = new VirtualClock()
  clock.jump(1_800_000_000_000)
  const look = { size, mtime: 0, ctime: (clock.wall() - written) * 1000, ino: 1 }
  const pictures = new IncompletePictures({ afterMs, action: 'leave' })
  const parts = { settleMs: 1000, clock, ages: new FileAges(null), disk: { isRemote: () => false } }
  const judgeNow = (verdict: Parameters<IncompletePictures['judge']>[2]['verdict'] = CUT) =>
    pictures.judge(parts, jobOf(look), { ...read(look), verdict })
  return { clock, look, pictures, judgeNow }
}

describe('a picture that is not all there', () => {
  it('waits for its writer, and is looked at again when that has taken too long', () => {
    for (const action of ['leave', 'send'] as const)
      expect(judge(60_000, { action })).toEqual({
        kind: 'waits',
        message: because(action === 'send' ? 'odd' : 'incomplete', { why: WHY }),
        retryInMs: AFTER_MS - 60_000,
      })
  })

  it('is a failure then, with what is missing and what to do, or sent as it is where that is asked for', () => {
    expect(judge(AFTER_MS)).toMatchObject({
      kind: 'failed',
      code: 'PICTURE_INCOMPLETE',
      message: because('stays_incomplete', { why: WHY }),
      retryAt: null,
    })
    expect(judge(AFTER_MS, { action: 'send' })).toBeNull()
  })

  it('is not sent because a clock leapt', () => {
    const known = 1000
    expect(judge(AFTER_MS * 5, { action: 'send', known })).toMatchObject({
      kind: 'waits',
      retryInMs: AFTER_MS - known,
    })
    expect(judge(AFTER_MS * 5, { known })).toMatchObject({ kind: 'failed' })
  })

  it('is not sent because the clock of a remote disk is behind', () => {
    const behind = { action: 'send' as const, isRemote: true, afterMs: 60_000 }
    expect(judge(120_000, behind)).toMatchObject({ kind: 'waits', retryInMs: 60_000 })
    expect(judge(300_000, behind)).toBeNull()
  })

  it('does not wait for a time in the future to pass', () => {
    expect(judge(-86_400_000)).toMatchObject({ kind: 'failed' })
  })
})

describe('a picture that is odd', () => {
  it.each([
    ['zeros', ZEROS, 60_000],
    ['a missing end mark', NO_END, AFTER_MS],
  ])('by %s waits since its last change, and is sent then', async (_, verdict, waitMs) => {
    const { clock, judgeNow } = watching(AFTER_MS, { size: 9000 })
    expect(judgeNow(verdict)).toMatchObject({ kind: 'waits', retryInMs: waitMs })
    await clock.pass(waitMs - 10_000)
    expect(judgeNow(verdict)).toMatchObject({ kind: 'waits', retryInMs: 10_000 })
    await clock.pass(10_000)
    expect(judgeNow(verdict)).toBeNull()
  })

  it('is sent at the first look where its last change lies long ago, in each boot', () => {
    const { judgeNow } = watching(AFTER_MS, { written: 2 * AFTER_MS })
    expect(judgeNow(NO_END)).toBeNull()
  })

  it.each([
    ['forward', 3_600_000],
    ['back', -3_600_000],
  ])('waits before our eyes where the clock was seen to be set %s', async (_, jump) => {
    const { clock, judgeNow } = watching(AFTER_MS)
    expect(judgeNow(ZEROS)).toMatchObject({ kind: 'waits', retryInMs: 60_000 })
    clock.jump(jump)
    await clock.pass(50_000)
    expect(judgeNow(ZEROS)).toMatchObject({ kind: 'waits', retryInMs: 10_000 })
    await clock.pass(10_000)
    expect(judgeNow(ZEROS)).toBeNull()
  })
})

describe('a picture that was found', () => {
  it('incomplete is not read again for half a minute while it looks the same, nor past its time', async () => {
    const { clock, look, pictures, judgeNow } = watching(40_000)
    const recall = (seen = fileOf(look)) => pictures.recall(seen, clock)
    expect(recall()).toBeNull()
    judgeNow()
    await clock.pass(29_000)
    expect(recall()).toMatchObject({ kind: 'waits', retryInMs: 11_000 })
    expect(recall(fileOf({ ...look, ctime: look.ctime + 1 }))).toBeNull()
    expect(recall({ ...fileOf(look), name: 'b.png' })).toBeNull()
    await clock.pass(2000)
    expect(recall()).toBeNull()
    judgeNow()
    await clock.pass(9000)
    expect(recall()).toBeNull()
    expect(judgeNow()).toMatchObject({ kind: 'failed' })
  })

  it('cut is known as such for a moment, but not one that is odd', async () => {
    const { clock, look, pictures, judgeNow } = watching(AFTER_MS)
    const wasJustMissing = () => pictures.wasJustMissing(fileOf(look), clock)
    judgeNow(ZEROS)
    expect(wasJustMissing()).toBe(false)
    judgeNow()
    await clock.pass(1999)
    expect(wasJustMissing()).toBe(true)
    await clock.pass(1)
    expect(wasJustMissing()).toBe(false)
  })
})

describe('a pass', () => {
  const whole = png(40, 30, 9).bytes
  const half = whole.subarray(0, 600)
  const failuresOf = ({ synced }: Workshop) => synced.summaries.failures(10)
  const report = { incomplete: new IncompletePictures({ afterMs: 0, action: 'leave' }) }
  const send = { incomplete: new IncompletePictures({ afterMs: 0, action: 'send' }) }

  it('leaves it pending, then reports it, and sends it once it is whole', async () => {
    const workshop = await workshopWith({ 'a.png': half })
    expect(summary(workshop)).toMatchObject({ pending_uploads: 1, failed: 0 })
    expect(workshop.events).toContainEqual(
      expect.objectContaining({ event: 'picture_waits', path: 'a.png', retry_in_ms: expect.any(Number) }),
    )
    await workshop.pass(report)
    expect(summary(workshop)).toMatchObject({ pending_uploads: 0, failed: 1 })
    expect(failuresOf(workshop)).toMatchObject([{ path: 'a.png', code: 'PICTURE_INCOMPLETE' }])
    workshop.write('a.png', whole)
    await workshop.pass(report)
    expect(summary(workshop)).toMatchObject({ synced: 1, failed: 0 })
    expect(failuresOf(workshop)).toEqual([])
  })

  it('names at once what is no picture of ours, however whole it is', async () => {
    const raw = Buffer.from('II*\0\x10\0\0\0CR\x02\0'.padEnd(40, 'raw'), 'latin1')
    const workshop = await workshopWith({ 'a.tif': raw })
    expect(failuresOf(workshop)).toMatchObject([
      { code: 'NOT_A_PICTURE', message: because('foreign_picture', { format: 'RAW' }) },
    ])
  })

  it('sends it as it is where that is asked for', async () => {
    const workshop = await openWith({ 'a.png': half })
    await workshop.pass(send)
    expect(summary(workshop)).toMatchObject({ synced: 1 })
  })

  it('keeps the image of a picture that is being written over', async () => {
    const workshop = await workshopWith({ 'a.png': whole })
    workshop.write('a.png', png(40, 30, 8).bytes.subarray(0, 600))
    await workshop.pass()
    await workshop.pass(report)
    expect(summary(workshop)).toMatchObject({ failed: 1, pending_deletions: 0 })
    // The same bytes as before need no upload, complete or not.
    workshop.write('a.png', whole)
    await workshop.pass()
    expect(workshop.events.filter(({ event }) => event === 'picture_uploaded')).toHaveLength(1)
    expect(summary(workshop)).toMatchObject({ synced: 1, failed: 0 })
  })

  it('makes no album for it', async () => {
    const workshop = await openWith({ 'album/a.png': half })
    await workshop.pass()
    expect(workshop.events.filter(({ event }) => event === 'album_created')).toEqual([])
  })
})
