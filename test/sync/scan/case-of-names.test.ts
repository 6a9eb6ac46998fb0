import { lstatSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type Disk, realDisk } from '../../../src/local/disk.ts'
import { png } from '../../pictures.ts'
import { lookingAt, openWorkshop } from '../workshop.ts'

/** The machine's disk, as one that finds a name in whatever case. */
function caseless(root: string): Disk {
  const real = (path: string) =>
    path.startsWith(`${root}/`)
      ? path
          .slice(root.length + 1)
          .split('/')
          .reduce((at, name) => join(at, nameIn(at, name)), root)
      : path
  return {
    ...realDisk,
    lstat: path => realDisk.lstat(real(path)),
    readFolder: path => realDisk.readFolder(real(path)),
    readText: path => realDisk.readText(real(path)),
  }
}

function nameIn(folder: string, name: string): string {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) return name
  return readdirSync(folder).find(other => other.toLowerCase() === name.toLowerCase()) ?? name
}

it.each([
  ['a picture', 'a/img.png', 'a/IMG.png'],
  ['a folder', 'a', 'A'],
])('on a disk that does not mind case %s gets another, and the old image goes', async (_, from, to) => {
  const workshop = await openWorkshop()
  const disk = caseless(workshop.pictures)
  const lookAt = lookingAt(disk)
  workshop.write('a/img.png', png(3, 2).bytes)
  workshop.write('other.png', png(3, 5).bytes)
  await workshop.pass({ disk, lookAt })
  renameSync(join(workshop.pictures, from), join(workshop.pictures, to))
  for (const _ of [1, 2]) await workshop.pass({ disk, lookAt })
  const told = (event: string) => workshop.events.filter(each => each.event === event).length
  expect([told('picture_uploaded'), told('image_deleted'), told('image_kept')]).toEqual([3, 1, 0])
  expect(workshop.synced.summaries.mirror(1)).toMatchObject({ synced: 2, pending_deletions: 0 })
})
