import { lstatSync, mkdirSync, readdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Disk, realDisk } from '../../../src/local/disk.ts'
import { type FolderToLookAt, lookAtFolder } from '../../../src/local/look.ts'
import { VanishedRules } from '../../../src/sync/scan/doubts.ts'
import { png } from '../../pictures.ts'
import {
  deleted,
  green,
  lookingAt,
  openWith,
  openWorkshop,
  red,
  summary,
  type Workshop,
  workshopWith,
} from '../workshop.ts'

/** Looks for real, with something happening before the folder `when` is looked at. */
function lookAtWhile(workshop: Workshop, when: string, happen: () => void) {
  let happened = false
  return () => async (batch: FolderToLookAt[]) =>
    batch.map(folder => {
      if (folder.path === when && !happened) {
        happened = true
        happen()
      }
      return lookAtFolder(realDisk, workshop.pictures, folder)
    })
}

describe('a disk', () => {
  it('that goes in the middle of a scan takes no image with it, then or later', async () => {
    const workshop = await workshopWith({ 'a/red.png': red, 'z/green.png': green })
    // As an unmount leaves it: the folder is there, another one, and empty.
    const lookAt = lookAtWhile(workshop, 'z', () => {
      renameSync(workshop.pictures, `${workshop.pictures}-disk`)
      mkdirSync(workshop.pictures)
    })
    // Something must have changed, or the digests would say that all is as it was.
    workshop.write('a/new.png', png(7, 7).bytes)
    await workshop.pass({ lookAt })
    for (const _ of [1, 2, 3]) await workshop.pass()
    expect(deleted(workshop)).toBe(0)
    expect(workshop.synced.mirrors.byId(1)).toMatchObject({ guard_code: 'ROOT' })
    renameSync(`${workshop.pictures}-disk`, workshop.pictures)
    await workshop.pass()
    expect(summary(workshop)).toMatchObject({ files: 3, synced: 3, pending_deletions: 0 })
    expect(deleted(workshop)).toBe(0)
  })

  it('whose pictures lie in one folder of very many is known by them', async () => {
    const workshop = await openWith({ 'm/red.png': red })
    for (let n = 0; n < 1000; n++) mkdirSync(join(workshop.pictures, `${n}`))
    await workshop.pass()
    renameSync(workshop.pictures, `${workshop.pictures}-disk`)
    mkdirSync(workshop.pictures)
    await workshop.pass({ graceMs: 1000 })
    expect(workshop.synced.mirrors.byId(1)).toMatchObject({ guard_code: 'ROOT' })
    expect(summary(workshop)).toMatchObject({ files: 1, synced: 1, pending_deletions: 0 })
  })

  it('that was emptied while deletions wait in escrow is not trusted', async () => {
    const workshop = await workshopWith({ 'red.png': red })
    workshop.remove('red.png')
    workshop.write('other.txt', 'keeps the root from being empty')
    await workshop.pass({ graceMs: 1000 })
    workshop.remove('other.txt')
    await workshop.pass({ running: () => 9000 })
    expect(deleted(workshop)).toBe(0)
    expect(workshop.synced.mirrors.byId(1)).toMatchObject({ guard_code: 'ROOT' })
  })
})

describe('a picture', () => {
  it('that moves behind the back of a scan keeps its image until the new one is there', async () => {
    const workshop = await workshopWith({ 'a/keep.png': green, 'z/red.png': red })
    // `a` has been looked at when the picture comes there from `z`, which has not.
    const lookAt = lookAtWhile(workshop, 'z', () =>
      renameSync(join(workshop.pictures, 'z/red.png'), join(workshop.pictures, 'a/red.png')),
    )
    workshop.events.length = 0
    await workshop.pass({ lookAt })
    expect(workshop.events.map(({ event }) => event).filter(event => /uploaded|deleted/.test(event))).toEqual(
      ['picture_uploaded', 'image_deleted'],
    )
    expect(summary(workshop)).toMatchObject({ files: 2, synced: 2, pending_deletions: 0 })
  })

  it('that gets a name which is not UTF-8, alone or with its folder, keeps its image', async () => {
    const workshop = await workshopWith({ 'a/red.png': red, 'b/green.png': green })
    const odd = (name: string) =>
      Buffer.concat([Buffer.from(`${workshop.pictures}/${name}`), Buffer.from([0xe9])])
    renameSync(join(workshop.pictures, 'a/red.png'), Buffer.concat([odd('a/red'), Buffer.from('.png')]))
    renameSync(join(workshop.pictures, 'b'), odd('b'))
    await workshop.pass()
    expect(deleted(workshop)).toBe(0)
    expect(summary(workshop)).toMatchObject({ pending_deletions: 0, failed: 2 })
  })

  it('from beyond all calendars is mirrored like any other, and does not stop the others', async () => {
    const workshop = await openWith({ 'red.png': red, 'green.png': green })
    utimesSync(join(workshop.pictures, 'red.png'), 9_999_999_999, 9_999_999_999)
    await workshop.pass()
    expect(summary(workshop)).toMatchObject({ files: 2, synced: 2 })
    await workshop.pass()
    expect(summary(workshop)).toMatchObject({ files: 2, synced: 2 })
  })
})

it('what an ignore file hid is not sent when the file has just vanished, only when it stays away', async () => {
  const workshop = await workshopWith({
    'red.png': red,
    '.albumdignore': 'Private/\n',
    'Private/green.png': green,
  })
  workshop.remove('.albumdignore')
  await workshop.pass()
  // It counts as a folder in doubt, and not as a picture that failed.
  expect(summary(workshop)).toMatchObject({ synced: 1, failed: 1, folders_in_doubt: 1 })
  writeFileSync(join(workshop.pictures, '.albumdignore'), 'Private/\n')
  await workshop.pass()
  expect(summary(workshop)).toMatchObject({ synced: 1 })
  workshop.remove('.albumdignore')
  await workshop.pass()
  await workshop.pass()
  expect(summary(workshop)).toMatchObject({ synced: 2 })
})

it('what an ignore file hid is not sent by the passes of one process that follow each other at once', async () => {
  const workshop = await openWorkshop()
  let now = 0
  const vanishedRules = new VanishedRules({ monotonic: () => now })
  workshop.write('private/.albumdignore', '*\n')
  workshop.write('private/red.png', red)
  await workshop.pass({ vanishedRules })
  workshop.remove('private/.albumdignore')
  for (now of [1000, 1300, 10_999]) {
    await workshop.pass({ vanishedRules })
    expect(summary(workshop)).toMatchObject({ synced: 0 })
  }
  // It was back, and goes once more.
  workshop.write('private/.albumdignore', '*\n')
  await workshop.pass({ vanishedRules })
  workshop.remove('private/.albumdignore')
  for (now of [11_000, 12_000]) {
    await workshop.pass({ vanishedRules })
    expect(summary(workshop)).toMatchObject({ synced: 0 })
  }
  // Its folder may go and come back as well.
  workshop.remove('private')
  await workshop.pass({ vanishedRules })
  workshop.write('private/red.png', red)
  now = 13_000
  await workshop.pass({ vanishedRules })
  expect(summary(workshop)).toMatchObject({ synced: 0 })
  now = 21_000
  await workshop.pass({ vanishedRules })
  expect(summary(workshop)).toMatchObject({ synced: 1 })
})

it('what an ignore file hid is not sent by the pass that finds the file gone, though it looks twice', async () => {
  const workshop = await workshopWith({
    'red.png': red,
    'blue.png': png(7, 7).bytes,
    '.albumdignore': 'Private/\n',
    'Private/green.png': green,
  })
  // What is to go has a pass look at everything once more.
  workshop.remove('blue.png')
  await workshop.pass({ graceMs: 3_600_000 })
  workshop.remove('.albumdignore')
  await workshop.pass({ running: () => 3_700_000 })
  expect(workshop.events.filter(({ event }) => event === 'scan_started')).toHaveLength(4)
  expect(summary(workshop)).toMatchObject({ synced: 1, pending_deletions: 1 })
  await workshop.pass({ running: () => 3_700_000 })
  expect(summary(workshop)).toMatchObject({ synced: 2, pending_deletions: 0 })
})

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
