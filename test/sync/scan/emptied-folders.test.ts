import { cpSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { realDisk } from '../../../src/local/disk.ts'
import { foundElsewhere } from '../../../src/sync/scan/emptied-folders.ts'
import { recordTrust, trustIn } from '../../../src/sync/scan/trust.ts'
import { factOf } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { emptyState } from '../../synced/open-tx.ts'
import { FILE } from '../../synced/rows.ts'
import { deleted, many, openWorkshop, scan, summary, type Workshop } from '../workshop.ts'

/** A folder `many` of so many pictures, beside others. */
async function withMany(pictures: number): Promise<Workshop> {
  const workshop = await openWorkshop()
  for (let n = 0; n < pictures; n++) workshop.write(`many/${n}.png`, png(3 + n, 2).bytes)
  for (let n = 0; n < 4; n++) workshop.write(`z/${n}.png`, png(2, 3 + n).bytes)
  await workshop.pass()
  expect(summary(workshop)).toMatchObject({ files: pictures + 4, synced: pictures + 4 })
  return workshop
}

const guard = ({ synced }: Workshop) => synced.mirrors.byId(1)!.guard
const inDoubt = ({ synced }: Workshop) => synced.folders.unknown(1).map(({ path, code }) => `${path} ${code}`)
/** No hold speaks before the guard does. */
const hold = { hold_above: 1, hold_min: 1000 }

/** How many pictures count as deleted: their images are gone, or held, because they are so many. */
const believedGone = (workshop: Workshop) => deleted(workshop) + summary(workshop).held_deletions

function move(workshop: Workshop, to: string, names = readdirSync(join(workshop.pictures, 'many'))): void {
  mkdirSync(join(workshop.pictures, to), { recursive: true })
  for (const name of names)
    renameSync(join(workshop.pictures, 'many', name), join(workshop.pictures, to, name))
}

/** The folder stays, without its pictures. */
function empty({ pictures, remove }: Workshop, folder: string): void {
  for (const name of readdirSync(join(pictures, folder))) remove(`${folder}/${name}`)
}

describe('a folder that has lost all its many pictures at once', () => {
  it('is in doubt: nothing is deleted, and nothing below it is sent, until they are back', async () => {
    const workshop = await withMany(20)
    renameSync(join(workshop.pictures, 'many'), `${workshop.pictures}-many`)
    mkdirSync(join(workshop.pictures, 'many'))
    workshop.write('many/below/new.png', png(40, 40).bytes)
    workshop.remove('z/0.png')
    for (const _ of [1, 2]) await workshop.pass({ hold })
    expect(inDoubt(workshop)).toEqual(['many FOLDER_EMPTIED'])
    expect(summary(workshop)).toMatchObject({ files: 24, pending_uploads: 1, pending_deletions: 1 })
    expect(deleted(workshop)).toBe(0)
    for (const name of readdirSync(`${workshop.pictures}-many`))
      renameSync(join(`${workshop.pictures}-many`, name), join(workshop.pictures, 'many', name))
    await workshop.pass({ hold })
    await workshop.pass({ hold })
    expect(guard(workshop)).toBeNull()
    expect(summary(workshop)).toMatchObject({ files: 24, synced: 24, pending_deletions: 0 })
    expect(deleted(workshop)).toBe(1)
  })

  it('keeps what lay below it, though that is gone too', async () => {
    const workshop = await withMany(20)
    workshop.write('many/below/deeper/one.png', png(40, 40).bytes)
    await workshop.pass()
    rmSync(join(workshop.pictures, 'many'), { recursive: true })
    mkdirSync(join(workshop.pictures, 'many'))
    await workshop.pass({ hold })
    expect(workshop.synced.summaries.failures(9)).toMatchObject([{ path: 'many', code: 'FOLDER_EMPTIED' }])
    expect(summary(workshop)).toMatchObject({ files: 25, synced: 25, pending_deletions: 0 })
  })

  it('is believed when a person says so', async () => {
    const workshop = await withMany(20)
    empty(workshop, 'many')
    await workshop.pass({ hold })
    const trust = trustIn(realDisk, workshop.synced, workshop.synced.mirrors.byId(1)!, 'many')
    if (trust.kind !== 'folder') throw new Error(trust.kind)
    await recordTrust(workshop.synced, trust)
    await workshop.pass({ hold })
    expect(guard(workshop)).toBeNull()
    expect(believedGone(workshop)).toBe(20)
    expect(summary(workshop)).toMatchObject({ files: 4, synced: 4, pending_deletions: 0 })
  })

  it('is named beside how many others are in doubt', async () => {
    const workshop = await withMany(20)
    for (let n = 0; n < 20; n++) workshop.write(`more/${n}.png`, png(3 + n, 9).bytes)
    await workshop.pass()
    for (const name of ['many', 'more']) {
      renameSync(join(workshop.pictures, name), `${workshop.pictures}-${name}`)
      mkdirSync(join(workshop.pictures, name))
    }
    await workshop.pass({ hold })
    expect(factOf(guard(workshop)!)).toContain('many and 1 more')
  })

  it.each<[string, number, (workshop: Workshop) => unknown, number]>([
    ['they have moved below it', 20, workshop => move(workshop, 'many/sorted/deep'), 24],
    ['they have moved to a folder before it', 20, workshop => move(workshop, 'a'), 24],
    ['they have moved to a folder behind it', 20, workshop => move(workshop, 'zz'), 24],
    [
      'so many have moved that few are left',
      30,
      workshop => {
        move(workshop, 'a', Object.keys(many(11)))
        empty(workshop, 'many')
      },
      15,
    ],
    ['it is gone as a whole', 20, workshop => workshop.remove('many'), 4],
  ])('is not in doubt where %s', async (_, pictures, change, left) => {
    const workshop = await withMany(pictures)
    change(workshop)
    await workshop.pass({ hold })
    expect(guard(workshop)).toBeNull()
    expect(believedGone(workshop)).toBe(pictures)
    expect(summary(workshop)).toMatchObject({ files: left, synced: left, pending_deletions: 0 })
  })

  it('is in doubt where others of their size only, or one for all, are found elsewhere', async () => {
    const workshop = await openWorkshop()
    for (let n = 0; n < 20; n++) workshop.write(`many/${n}.png`, png(3, 2, n).bytes)
    workshop.write('z/other.png', png(5, 5).bytes)
    await workshop.pass()
    for (let n = 1; n < 20; n++) workshop.remove(`many/${n}.png`)
    move(workshop, 'a')
    for (let n = 0; n < 30; n++) workshop.write(`b/${n}.png`, png(3, 2, 100 + n).bytes)
    await workshop.pass({ hold })
    // One moved, 19 did not: they are believed gone.
    expect(guard(workshop)).toBeNull()
    empty(workshop, 'b')
    workshop.write('c/one.png', png(3, 2, 100).bytes)
    await workshop.pass({ hold })
    expect(inDoubt(workshop)).toEqual(['b FOLDER_EMPTIED'])
  })

  it('stays in doubt when copies of its pictures that are known move', async () => {
    const workshop = await withMany(20)
    const at = (path: string) => join(workshop.pictures, path)
    cpSync(at('many'), at('copies'), { recursive: true, preserveTimestamps: true })
    // The second pass compares what had only just been written when the first one read it.
    for (const _ of [1, 2]) await workshop.pass({ hold })
    empty(workshop, 'many')
    await workshop.pass({ hold })
    renameSync(at('copies'), at('moved'))
    for (const _ of [1, 2]) await workshop.pass({ hold })
    expect(inDoubt(workshop)).toEqual(['many FOLDER_EMPTIED'])
    renameSync(at('moved/0.png'), at('many/0.png'))
    await workshop.pass({ hold })
    expect(inDoubt(workshop)).toEqual([])
  })

  it('is no matter where few were lost, or some stay', async () => {
    const workshop = await withMany(20)
    workshop.remove('many/0.png')
    await workshop.pass({ hold })
    empty(workshop, 'many')
    await workshop.pass({ hold })
    expect(guard(workshop)).toBeNull()
    expect(believedGone(workshop)).toBe(20)
  })

  it('is not in doubt where they have moved to a mirror that is scanned later', async () => {
    const workshop = await withMany(20)
    const other = `${workshop.pictures}-other`
    mkdirSync(other)
    for (const name of readdirSync(join(workshop.pictures, 'many')))
      renameSync(join(workshop.pictures, 'many', name), join(other, name))
    const mirrors = [workshop.mirror, { ...workshop.mirror, folder: other, album: 'Other' }]
    await scan(workshop, { mirrors })
    expect(guard(workshop)).toBeNull()
    expect(summary(workshop)).toMatchObject({ files: 4, pending_deletions: 20 })
  })
})

it('a picture that was found elsewhere accounts for one that was lost, whoever asks', () => {
  const synced = emptyState()
  const folder = synced.commitNow(tx => tx.folders.add(tx.mirrors.add('/pictures', 'Photos').id, '')).id
  const found = { ...FILE, folder, size: 5, mtime: 7 }
  synced.commitNow(tx => tx.files.put(found))
  const lost = { ...found, name: 'lost.png', state: 'gone' as const }
  const taken = new Set<string>()
  const isFound = (...others: object[]) => {
    const isElsewhere = foundElsewhere(synced, taken, new Set())
    return [{}, ...others].map(other => isElsewhere({ ...lost, ...other }))
  }
  expect(isFound({ mtime: 8 }, { size: 6 })).toEqual([true, false, false])
  expect(isFound()).toEqual([false])
  expect(foundElsewhere(synced, new Set(), new Set([folder]))(lost)).toBe(false)
})
