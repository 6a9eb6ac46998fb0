import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isTooMuch } from '../../../src/sync/deletions/hold.ts'
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

describe('isTooMuch', () => {
  const policy = { hold_above: 0.25, hold_min: 20 }
  it.each([
    ['under both counts', { pending: 20, deleted: 0, in_use: 1000 }, false],
    ['over hold_min alone', { pending: 100, deleted: 0, in_use: 900 }, false],
    ['over hold_above alone', { pending: 20, deleted: 0, in_use: 0 }, false],
    ['over both', { pending: 21, deleted: 0, in_use: 0 }, true],
    ['over both with what went before', { pending: 1, deleted: 25, in_use: 70 }, true],
    ['with nothing to go', { pending: 0, deleted: 500, in_use: 0 }, false],
  ])('%s', (_, weight, expected) => {
    expect(isTooMuch(weight, policy)).toBe(expected)
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
