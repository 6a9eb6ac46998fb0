import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { realDisk } from '../../../src/local/disk.ts'
import { RESTORE_FOLDER } from '../../../src/local/look.ts'
import { codeOf } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { deleted, openWorkshop, summary, type Workshop } from '../workshop.ts'

/** No hold speaks before the guard does. */
const changes = { hold: { hold_above: 1, hold_min: 1000 }, graceMs: 0 }

const picture = (n: number) => png(3 + n, 2).bytes

async function withPictures(folder: string): Promise<Workshop> {
  const workshop = await openWorkshop()
  for (let n = 0; n < 6; n++) workshop.write(`${folder}${n}.png`, picture(n))
  await workshop.pass(changes)
  expect(summary(workshop)).toMatchObject({ files: 6, synced: 6 })
  return workshop
}

/** What a restore does first. Answers a function that ends the restore. */
function beginRestore({ pictures }: Workshop, folder: string): () => void {
  const own = join(pictures, folder, RESTORE_FOLDER)
  mkdirSync(own, { recursive: true })
  return () => rmSync(own, { recursive: true })
}

describe('a restore that has not ended', () => {
  it.each([
    ['the root', '', ''],
    ['a folder', 'trip/', 'trip'],
    ['a folder above', 'trip/day/', 'trip'],
  ])('holds back what is missing in %s, until it has ended', async (_, folder, into) => {
    const workshop = await withPictures(folder)
    for (let n = 0; n < 6; n++) workshop.remove(`${folder}${n}.png`)
    const end = beginRestore(workshop, into)
    for (let n = 0; n < 3; n++) workshop.write(`${folder}${n}.png`, picture(n))
    workshop.write(`${folder}new.png`, png(40, 40).bytes)
    for (const _ of [1, 2]) await workshop.pass(changes)
    const kept = workshop.events.flatMap(emitted =>
      emitted.event === 'image_kept' ? codeOf(emitted.reason) : [],
    )
    expect(new Set(kept)).toEqual(new Set(['folder_restored']))
    expect(deleted(workshop)).toBe(0)
    for (let n = 3; n < 6; n++) workshop.write(`${folder}${n}.png`, picture(n))
    end()
    for (const _ of [1, 2]) await workshop.pass(changes)
    expect(summary(workshop)).toMatchObject({ files: 7, synced: 7, pending_deletions: 0 })
    expect(deleted(workshop)).toBe(0)
  })

  it('holds back a deletion that is about to leave', async () => {
    const workshop = await withPictures('trip/')
    workshop.remove('trip/0.png')
    const disk = {
      ...realDisk,
      // The last look before the deletion asks for the picture. By then the scans are over.
      lstat(path: string) {
        if (path.endsWith('trip/0.png')) beginRestore(workshop, 'trip')
        return realDisk.lstat(path)
      },
    }
    await workshop.pass({ ...changes, disk })
    expect(deleted(workshop)).toBe(0)
  })

  it('holds back nothing any more once its own folder is removed', async () => {
    const workshop = await withPictures('trip/')
    workshop.remove('trip/0.png')
    const end = beginRestore(workshop, 'trip')
    await workshop.pass(changes)
    expect(deleted(workshop)).toBe(0)
    end()
    await workshop.pass(changes)
    expect(deleted(workshop)).toBe(1)
  })
})
