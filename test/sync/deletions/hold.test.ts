import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/protocol/clock.ts'
import { approved, givenGrace } from '../../../src/records/escrow.ts'
import { noteBoot, noteSetClock } from '../../../src/sync/clock.ts'
import { howMany } from '../../../src/sync/deletions/hold.ts'
import { png } from '../../pictures.ts'
import { deleted, openWorkshop, summary, type Workshop, withoutQuota } from '../workshop.ts'

const HOUR = 3_600_000
const hold = { hold_above: 0.25, hold_min: 2 }

async function withPictures(pictures: number): Promise<Workshop> {
  const workshop = await openWorkshop()
  for (let n = 0; n < pictures; n++) workshop.write(`a/${n}.png`, png(2 + n, 2).bytes)
  await workshop.pass({ hold })
  workshop.events.length = 0
  return workshop
}

const held = ({ events }: Workshop) => events.filter(({ event }) => event === 'deletions_held')

describe('howMany', () => {
  const policy = { hold_above: 0.25, hold_min: 20 }
  it.each([
    ['with nothing to go', { pending: 0, deleted: 500, in_use: 0 }, 'few'],
    ['three, whatever the mirror', { pending: 3, deleted: 0, in_use: 0 }, 'few'],
    ['5 %', { pending: 10, deleted: 0, in_use: 190 }, 'few'],
    ['over 5 %', { pending: 11, deleted: 0, in_use: 189 }, 'many'],
    ['over 5 % with what went before', { pending: 1, deleted: 10, in_use: 189 }, 'many'],
    ['over 20, and under 5 %', { pending: 21, deleted: 0, in_use: 100_000 }, 'many'],
    ['over hold_min alone', { pending: 100, deleted: 0, in_use: 900 }, 'many'],
    ['over hold_above alone', { pending: 20, deleted: 0, in_use: 40 }, 'many'],
    ['half', { pending: 4, deleted: 0, in_use: 4 }, 'many'],
    ['over half, and over three', { pending: 4, deleted: 0, in_use: 3 }, 'too_many'],
    ['over both', { pending: 21, deleted: 0, in_use: 60 }, 'too_many'],
    ['over both with what went before', { pending: 1, deleted: 25, in_use: 70 }, 'too_many'],
  ])('%s', (_, weight, expected) => {
    expect(howMany(weight, policy)).toBe(expected)
  })
})

/** A workshop whose daemon runs as long as the test says. */
async function withDaemon(pictures: number) {
  const workshop = await withPictures(pictures)
  const { events } = workshop
  return {
    ...workshop,
    at: (hours: number, isDaemon = true, more = {}) => {
      const clock = { ...systemClock, wall: () => START + hours * HOUR }
      const running = () => (isDaemon ? hours * HOUR : 0)
      const graces = { graceMs: isDaemon ? HOUR / 6 : 0, graceManyMs: 24 * HOUR }
      return workshop.pass({ hold: usual, ...graces, isDaemon, clock, running, ...more })
    },
    told: () => events.filter(({ event }) => event === 'deletions_many'),
    lose: (...names: number[]) => names.forEach(n => void workshop.remove(`a/${n}.png`)),
    waits: () => workshop.synced.escrow.many(1).deletions,
  }
}

const START = Date.UTC(2026, 10, 20)
const usual = { hold_above: 0.25, hold_min: 20 }

describe('many deletions', () => {
  it('wait for the longer grace, all of them, and are told at once', async () => {
    const at = await withDaemon(12)
    at.lose(0, 1)
    await at.at(1)
    expect(at.told()).toEqual([])
    at.lose(2, 3)
    await at.at(1.1)
    expect(at.told()).toMatchObject([
      { images: 4, pictures: 8, until: new Date(START + 25.1 * HOUR).toISOString() },
    ])
    expect(at.synced.mirrors.byId(1)).toMatchObject({ many_news: 1 })
    await at.at(25)
    expect(deleted(at)).toBe(0)
    await at.at(25.2)
    expect(deleted(at)).toBe(4)
    expect([at.told().length, at.waits()]).toEqual([1, 0])
  })

  it('are many in a trickle too: what goes before is few', async () => {
    const at = await withDaemon(12)
    for (const n of [0, 1, 2, 3, 4, 5]) {
      at.lose(n)
      await at.at(n)
      await at.at(n + 0.5)
    }
    expect([deleted(at), at.waits(), at.told().length]).toEqual([3, 3, 1])
  })

  it('become few again when pictures come back or move, and a person’s word ends the wait', async () => {
    const at = await withDaemon(12)
    at.lose(0, 1, 2, 3, 4)
    await at.at(1)
    at.write('a/0.png', png(2, 2).bytes)
    at.write('b/1.png', png(3, 2).bytes)
    at.synced.commitNow(tx => approved(tx, [tx.escrow.atPath(1, 'a/2.png')[0]!.image], 1))
    await at.at(2)
    await at.at(2.5)
    expect(at.events.flatMap(told => (told.event === 'image_deleted' ? told.path : []))).toEqual([
      'a/2.png',
      'a/1.png',
    ])
    expect(at.waits()).toBe(2)
  })

  it('that are edits wait too, and are no news', async () => {
    const at = await withDaemon(12)
    for (const n of [0, 1, 2, 3]) at.write(`a/${n}.png`, png(50 + n, 9).bytes)
    at.lose(4)
    await at.at(1)
    await at.at(2)
    expect([deleted(at), at.waits()]).toEqual([0, 5])
    expect(at.synced.mirrors.byId(1)).toMatchObject({ many_news: 0 })
    at.lose(5, 6, 7)
    await at.at(3)
    expect(at.synced.mirrors.byId(1)).toMatchObject({ many_news: 1 })
  })

  it('of a sync wait by the clock, and a daemon that begins meanwhile gives them its longer grace', async () => {
    const at = await withDaemon(12)
    at.lose(0, 1, 2, 3)
    await at.at(0, false)
    await at.at(23.9, false)
    expect(deleted(at)).toBe(0)
    const moment = { running: 0, graceMs: HOUR / 6, graceManyMs: 24 * HOUR }
    const before = at.synced.escrow.ofMirror(1)
    at.synced.commitNow(tx => givenGrace(tx, moment))
    await at.at(23.9)
    expect([deleted(at), at.waits()]).toEqual([0, 4])
    at.synced.commitNow(tx => before.forEach(entry => void tx.escrow.takeBack(entry.image)))
    for (const n of [0, 1, 2, 3]) at.write(`a/${n}.png`, png(2 + n, 2).bytes)
    await at.at(24, false)
    at.lose(0, 1, 2, 3)
    await at.at(25, false)
    await at.at(49, false)
    expect(deleted(at)).toBe(4)
  })

  it('of a sync wait on for as long as before when the clock is set, and not when a boot ends', async () => {
    const at = await withDaemon(12)
    const opened = (boot: string, hours: number) =>
      at.synced.commitNow(tx => {
        noteBoot(tx, boot, 0)
        noteSetClock(tx, START + hours * HOUR)
      })
    opened('one', 0)
    at.lose(0, 1, 2, 3)
    await at.at(1, false)
    opened('one', 240)
    opened('two', 264)
    await at.at(264.9, false)
    expect([deleted(at), at.waits()]).toEqual([0, 4])
    await at.at(265, false)
    expect(deleted(at)).toBe(4)
  })

  it('go as few do where grace_many is 0, and too many are held', async () => {
    const at = await withDaemon(12)
    at.lose(0, 1, 2, 3)
    await at.at(1, true, { graceManyMs: 0 })
    await at.at(2, true, { graceManyMs: 0 })
    expect(deleted(at)).toBe(4)
    at.lose(4, 5, 6, 7, 8)
    await at.at(3, true, { graceManyMs: 0 })
    expect(summary(at)).toMatchObject({ held_deletions: 5 })
  })
})

describe('the hold', () => {
  it('keeps everything that is pending, not the excess, over the next passes too', async () => {
    const workshop = await withPictures(6)
    for (const n of [0, 1, 2]) workshop.remove(`a/${n}.png`)
    await workshop.pass({ hold })
    await workshop.pass({ hold })
    expect(deleted(workshop)).toBe(0)
    expect(held(workshop)).toMatchObject([{ images: 3, pictures: 3 }])
    expect(workshop.synced.summaries.mirror(1)).toMatchObject({ held_deletions: 3, pending_deletions: 0 })
  })

  it('lets go what is within it', async () => {
    const workshop = await withPictures(6)
    for (const n of [0, 1]) workshop.remove(`a/${n}.png`)
    await workshop.pass({ hold })
    expect(deleted(workshop)).toBe(2)
  })

  it.each([
    ['counts a trickle as much as a burst', 3, 2],
    ['forgets what went a day of running ago', 40, 3],
  ])('%s', async (_, last, gone) => {
    const workshop = await withPictures(6)
    for (const [n, at] of [1, 2, last].entries()) {
      workshop.remove(`a/${n}.png`)
      await workshop.pass({ hold, running: () => at * HOUR })
    }
    expect(deleted(workshop)).toBe(gone)
    expect(held(workshop)).toHaveLength(3 - gone)
  })

  it('holds old versions like deletions: the new ones go up, the old ones stay', async () => {
    const workshop = await withPictures(4)
    for (const n of [0, 1, 2]) workshop.write(`a/${n}.png`, png(50 + n, 9).bytes)
    await workshop.pass({ hold })
    expect(workshop.events.filter(({ event }) => event === 'picture_uploaded')).toHaveLength(3)
    expect(deleted(workshop)).toBe(0)
    expect(workshop.synced.summaries.mirror(1)).toMatchObject({ held_deletions: 3, synced: 4 })
  })

  it('does not mind a folder that was renamed: its pictures are there again', async () => {
    const workshop = await withPictures(6)
    renameSync(join(workshop.pictures, 'a'), join(workshop.pictures, 'b'))
    await workshop.pass({ hold })
    expect(deleted(workshop)).toBe(6)
    expect(held(workshop)).toEqual([])
  })

  it('does not mind it either while the pictures wait for quota in their new folder', async () => {
    const workshop = await withPictures(6)
    renameSync(join(workshop.pictures, 'a'), join(workshop.pictures, 'b'))
    const host = withoutQuota(workshop.host)
    await workshop.pass({ hold, host })
    await workshop.pass({ hold, host })
    expect(held(workshop)).toEqual([])
    expect(summary(workshop)).toMatchObject({ held_deletions: 0, pending_deletions: 6, pending_uploads: 6 })
    workshop.synced.commitNow(tx => tx.account.forgetExhaustion())
    // Four of them are deleted in their new place too, so their images are deleted like all others.
    for (const n of [0, 1, 2, 3]) workshop.remove(`b/${n}.png`)
    await workshop.pass({ hold, host })
    expect(held(workshop)).toMatchObject([{ images: 4 }])
    expect(summary(workshop)).toMatchObject({ held_deletions: 4, pending_deletions: 2, pending_uploads: 2 })
    workshop.synced.commitNow(tx => tx.account.forgetExhaustion())
    await workshop.pass({ hold })
    expect(deleted(workshop)).toBe(2)
  })

  it('begins at once, and ends for what turns out to have moved', async () => {
    const workshop = await withPictures(6)
    for (const n of [0, 1, 2]) workshop.remove(`a/${n}.png`)
    await workshop.pass({ hold, graceMs: HOUR })
    expect(summary(workshop)).toMatchObject({ held_deletions: 3 })
    for (const n of [0, 1, 2]) workshop.write(`b/${n}.png`, png(2 + n, 2).bytes)
    await workshop.pass({ hold })
    await workshop.pass({ hold })
    expect(deleted(workshop)).toBe(3)
  })

  it('is over for a picture that comes back, and for what was approved', async () => {
    const workshop = await withPictures(6)
    for (const n of [0, 1, 2]) workshop.remove(`a/${n}.png`)
    await workshop.pass({ hold })
    workshop.write('a/0.png', png(2, 2).bytes)
    for (const { image, path } of workshop.synced.escrow.ofMirror(1))
      if (path === 'a/1.png') workshop.synced.commitNow(tx => tx.escrow.approve(image))
    await workshop.pass({ hold })
    expect(deleted(workshop)).toBe(1)
    expect(workshop.synced.summaries.mirror(1)).toMatchObject({ files: 4, synced: 4, held_deletions: 1 })
  })
})
