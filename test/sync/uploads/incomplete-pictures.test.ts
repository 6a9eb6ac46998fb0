import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { FileAges } from '../../../src/sync/clock.ts'
import { IncompletePictures } from '../../../src/sync/uploads/incomplete-pictures.ts'
import type { FileRow } from '../../../src/synced/tables/files.ts'
import { because } from '../../../src/words/reasons.ts'
import { VirtualClock } from '../../daemon/virtual-clock.ts'
import { png } from '../../pictures.ts'
import { openWith, openWorkshop, workshopWith } from '../workshop.ts'

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
  ages.since = ctime => Math.max(0, Math.min(clock.wall() - ctime / 1000, known))
  const pictures = new IncompletePictures({ afterMs, action })
  return pictures.judge(
    { settleMs: 1000, clock, ages, disk: { isRemote: () => isRemote } },
    jobOf(look),
    read(look),
  )
}

const read = (look: Look) => ({
  ending: { kind: 'cut', missing: 'its end is missing' } as const,
  look,
  hash: Buffer.alloc(32),
})

const fileOf = (seen: object) => ({ folder: 1, name: 'a.png', ...seen }) as FileRow

const jobOf = (seen: object) => ({ file: fileOf(seen), root: '/r', path: 'a.png' })

const local = { isRemote: () => false }

describe('a picture that is not all there', () => {
  it('waits for its writer, and is looked at again when that has taken too long', () => {
    for (const action of ['leave', 'send'] as const)
      expect(judge(60_000, { action })).toEqual({
        kind: 'waits',
        message: because('incomplete', { missing: 'its end is missing' }),
        retryInMs: AFTER_MS - 60_000,
      })
  })

  it('is a failure then, with what is missing and what to do', () => {
    expect(judge(AFTER_MS)).toMatchObject({
      kind: 'failed',
      code: 'PICTURE_INCOMPLETE',
      message: because('stays_incomplete', { missing: 'its end is missing' }),
      retryAt: null,
    })
  })

  it('is sent then as it is, where that is asked for', () => {
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

describe('a picture that ends in zeros', () => {
  it.each([
    ['was not set', 0],
    ['was set forward', 3_600_000],
    ['was set back', -3_600_000],
  ])('waits a minute before our eyes for its writer where the clock %s', async (_, age) => {
    const clock = new VirtualClock()
    clock.jump(1_800_000_000_000)
    const look = { size: 9000, mtime: 0, ctime: (clock.wall() - age) * 1000, ino: 1 }
    const pictures = new IncompletePictures({ afterMs: AFTER_MS, action: 'leave' })
    const ages = new FileAges(null)
    const hash = Buffer.alloc(32)
    const judgeNow = () =>
      pictures.judge({ settleMs: 1000, clock, ages, disk: local }, jobOf(look), {
        look,
        hash,
        ending: { kind: 'blank' },
      })
    expect(judgeNow()).toMatchObject({ kind: 'waits', retryInMs: 60_000 })
    await clock.pass(50_000)
    expect(judgeNow()).toMatchObject({ kind: 'waits', retryInMs: 10_000 })
    await clock.pass(10_000)
    expect(judgeNow()).toBeNull()
  })
})

describe('a picture that was found incomplete', () => {
  it('is not read again for half a minute while it looks the same, nor past its time', async () => {
    const clock = new VirtualClock()
    clock.jump(1_800_000_000_000)
    const parts = { settleMs: 1000, clock, ages: new FileAges(null), disk: local }
    const look = { size: 1, mtime: 0, ctime: clock.wall() * 1000, ino: 1 }
    const pictures = new IncompletePictures({ afterMs: 40_000, action: 'leave' })
    expect(pictures.recall(fileOf(look), clock)).toBeNull()
    pictures.judge(parts, jobOf(look), read(look))
    await clock.pass(29_000)
    expect(pictures.recall(fileOf(look), clock)).toMatchObject({ kind: 'waits', retryInMs: 11_000 })
    expect(pictures.recall(fileOf({ ...look, ctime: look.ctime + 1 }), clock)).toBeNull()
    expect(pictures.recall({ ...fileOf(look), name: 'b.png' }, clock)).toBeNull()
    await clock.pass(2000)
    expect(pictures.recall(fileOf(look), clock)).toBeNull()
    pictures.judge(parts, jobOf(look), read(look))
    await clock.pass(9000)
    expect(pictures.recall(fileOf(look), clock)).toBeNull()
    expect(pictures.judge(parts, jobOf(look), read(look))).toMatchObject({ kind: 'failed' })
  })
})

describe('a picture that was found cut', () => {
  it('is known as such for a moment, but for one that is blank', async () => {
    const clock = new VirtualClock()
    clock.jump(1_800_000_000_000)
    const parts = { settleMs: 1000, clock, ages: new FileAges(null), disk: local }
    const look = { size: 1, mtime: 0, ctime: clock.wall() * 1000, ino: 1 }
    const pictures = new IncompletePictures({ afterMs: AFTER_MS, action: 'leave' })
    const wasJustCut = () => pictures.wasJustCut(fileOf(look), clock)
    pictures.judge(parts, jobOf(look), { ...read(look), ending: { kind: 'blank' } })
    expect(wasJustCut()).toBe(false)
    pictures.judge(parts, jobOf(look), read(look))
    await clock.pass(1999)
    expect(wasJustCut()).toBe(true)
    await clock.pass(1)
    expect(wasJustCut()).toBe(false)
  })
})

describe('a pass', () => {
  const whole = png(40, 30, 9).bytes
  const half = whole.subarray(0, 600)
  const summaryOf = ({ synced }: Awaited<ReturnType<typeof openWorkshop>>) => synced.summaries.mirror(1)
  const failuresOf = ({ synced }: Awaited<ReturnType<typeof openWorkshop>>) => synced.summaries.failures(10)
  const report = { incomplete: new IncompletePictures({ afterMs: 0, action: 'leave' }) }
  const send = { incomplete: new IncompletePictures({ afterMs: 0, action: 'send' }) }

  it('leaves it pending, then reports it, and sends it once it is whole', async () => {
    const workshop = await workshopWith({ 'a.png': half })
    expect(summaryOf(workshop)).toMatchObject({ pending_uploads: 1, failed: 0 })
    expect(workshop.events).toContainEqual(
      expect.objectContaining({ event: 'picture_waits', path: 'a.png', retry_in_ms: expect.any(Number) }),
    )
    await workshop.pass(report)
    expect(summaryOf(workshop)).toMatchObject({ pending_uploads: 0, failed: 1 })
    expect(failuresOf(workshop)).toMatchObject([{ path: 'a.png', code: 'PICTURE_INCOMPLETE' }])
    workshop.write('a.png', whole)
    await workshop.pass(report)
    expect(summaryOf(workshop)).toMatchObject({ synced: 1, failed: 0 })
    expect(failuresOf(workshop)).toEqual([])
  })

  it('sends it as it is where that is asked for', async () => {
    const workshop = await openWith({ 'a.png': half })
    await workshop.pass(send)
    expect(summaryOf(workshop)).toMatchObject({ synced: 1 })
  })

  it('keeps the image of a picture that is being written over', async () => {
    const workshop = await workshopWith({ 'a.png': whole })
    workshop.write('a.png', png(40, 30, 8).bytes.subarray(0, 600))
    await workshop.pass()
    await workshop.pass(report)
    expect(summaryOf(workshop)).toMatchObject({ failed: 1, pending_deletions: 0 })
    // The same bytes as before need no upload, complete or not.
    workshop.write('a.png', whole)
    await workshop.pass()
    expect(workshop.events.filter(({ event }) => event === 'picture_uploaded')).toHaveLength(1)
    expect(summaryOf(workshop)).toMatchObject({ synced: 1, failed: 0 })
  })

  it('makes no album for it', async () => {
    const workshop = await openWorkshop()
    mkdirSync(join(workshop.pictures, 'album'))
    writeFileSync(join(workshop.pictures, 'album/a.png'), half)
    await workshop.pass()
    expect(workshop.events.filter(({ event }) => event === 'album_created')).toEqual([])
  })
})
