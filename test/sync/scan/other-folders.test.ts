import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Disk, realDisk } from '../../../src/local/disk.ts'
import { hostWith } from '../../../src/remote/host.ts'
import { recordTrust, trustIn } from '../../../src/sync/scan/trust.ts'
import { png } from '../../pictures.ts'
import {
  count,
  deleted,
  failure,
  lookingAt,
  openWith,
  openWorkshop,
  summary,
  type Workshop,
} from '../workshop.ts'

/** As a backup does. */
const copyTo = (from: string, to: string) => execFileSync('cp', ['-a', from, to])

const mirror = ({ synced }: Workshop) => synced.mirrors.byId(1)!

/** A mirror of which a copy was made, to which then came newer pictures. */
async function copied(): Promise<Workshop & { copy: string; trip: string }> {
  const workshop = await openWorkshop()
  for (let n = 0; n < 10; n++) workshop.write(`trip/${n}.png`, png(3, 2 + n).bytes)
  workshop.write('other/o.png', png(5, 5).bytes)
  const copy = `${workshop.pictures}-copy`
  copyTo(workshop.pictures, copy)
  for (const n of [10, 11]) workshop.write(`trip/${n}.png`, png(3, 2 + n).bytes)
  workshop.write('later/l.png', png(6, 6).bytes)
  await workshop.pass()
  expect(summary(workshop)).toMatchObject({ files: 14, synced: 14 })
  return { ...workshop, copy, trip: join(workshop.pictures, 'trip') }
}

/** Two pictures in `trip`, and a copy of this folder below the root. */
async function copiedOf(path: string): Promise<{ workshop: Workshop; folder: string; copy: string }> {
  const workshop = await openWith({ 'trip/0.png': png(3, 2).bytes, 'trip/1.png': png(3, 3).bytes })
  const folder = join(workshop.pictures, path)
  const copy = `${workshop.pictures}-copy`
  copyTo(folder, copy)
  await workshop.pass()
  return { workshop, folder, copy }
}

/** Nothing is sent or deleted while the mirror is guarded. Returns the folders in doubt, and why; the root is ''. */
async function guarded(
  workshop: Workshop,
  parts: Parameters<Workshop['pass']>[0] = {},
): Promise<(string | null)[][]> {
  const sent = count(workshop, 'picture_uploaded')
  for (const _ of [1, 2, 3]) await workshop.pass(parts)
  expect([deleted(workshop), count(workshop, 'picture_uploaded')]).toEqual([0, sent])
  const { guard_code } = mirror(workshop)
  if (guard_code === 'ROOT') return [['', guard_code]]
  return workshop.synced.folders.unknown(1).map(({ path, code }) => [path, code])
}

async function trust(workshop: Workshop, path: string): Promise<void> {
  const trust = trustIn(realDisk, workshop.synced, mirror(workshop), path)
  if (trust.kind !== 'root' && trust.kind !== 'folder') throw new Error(trust.kind)
  await recordTrust(workshop.synced, trust)
}

const swap = (one: string, other: string) => {
  renameSync(one, `${other}-before`)
  renameSync(other, one)
}

const OTHER = [['trip', 'FOLDER_OLDER']]

describe('an older copy in the place of the root', () => {
  it('deletes nothing, and is no matter once it is gone', async () => {
    const workshop = await copied()
    const { pictures, copy } = workshop
    swap(pictures, copy)
    expect(await guarded(workshop)).toEqual([['', 'ROOT']])
    rmSync(pictures, { recursive: true })
    renameSync(`${copy}-before`, pictures)
    await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
    expect(summary(workshop)).toMatchObject({ files: 14, synced: 14, pending_deletions: 0 })
  })

  it('is the truth when a person says so', async () => {
    const workshop = await copied()
    swap(workshop.pictures, workshop.copy)
    await workshop.pass()
    await trust(workshop, '')
    await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
    expect(deleted(workshop)).toBe(3)
  })
})

describe('another folder in the place of a known one', () => {
  it('is in doubt while it lacks pictures, also when it gets new ones, until a person trusts it', async () => {
    const workshop = await copied()
    swap(workshop.trip, join(workshop.copy, 'trip'))
    expect(await guarded(workshop)).toEqual(OTHER)
    workshop.write('trip/new.png', png(7, 7).bytes)
    expect(await guarded(workshop)).toEqual(OTHER)
    await trust(workshop, 'trip')
    await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
    expect(deleted(workshop)).toBe(2)
  })

  it('was made anew where it shows nothing that is recorded: grace and hold decide', async () => {
    const workshop = await copied()
    rmSync(workshop.trip, { recursive: true })
    workshop.write('trip/0.png', png(8, 8).bytes)
    await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
    expect(summary(workshop)).toMatchObject({ files: 3, pending_uploads: 0 })
  })

  it('is no matter once the known one is back, or the pictures are in it', async () => {
    const workshop = await copied()
    const { trip } = workshop
    const copy = join(workshop.copy, 'trip')
    swap(trip, copy)
    expect(await guarded(workshop)).toEqual(OTHER)
    for (const n of [10, 11]) copyTo(join(`${copy}-before`, `${n}.png`), trip)
    await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
    swap(trip, `${copy}-before`)
    await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
    expect(summary(workshop)).toMatchObject({ files: 14, synced: 14, pending_deletions: 0 })
  })

  it('is in doubt where it can not be read for a while', async () => {
    const workshop = await copied()
    const { trip } = workshop
    swap(trip, join(workshop.copy, 'trip'))
    const disk: Disk = {
      ...realDisk,
      readFolder(path) {
        if (path === trip) throw Object.assign(new Error('shut'), { code: 'EACCES' })
        return realDisk.readFolder(path)
      },
    }
    expect(await guarded(workshop, { disk, lookAt: lookingAt(disk) })).toEqual([
      ['trip', 'FOLDER_UNREADABLE'],
    ])
    expect(await guarded(workshop)).toEqual(OTHER)
  })

  it('is in doubt when all that it lacks is a folder in it', async () => {
    const workshop = await openWith({ 'trip/a.png': png(3, 2).bytes })
    const trip = join(workshop.pictures, 'trip')
    const copy = `${workshop.pictures}-copy`
    copyTo(trip, copy)
    workshop.write('trip/day/deep/b.png', png(3, 3).bytes)
    await workshop.pass()
    swap(trip, copy)
    expect(await guarded(workshop)).toEqual(OTHER)
    expect(summary(workshop)).toMatchObject({ synced: 2, pending_deletions: 0 })
  })

  it('is another folder, and not emptied, where it shows one of many pictures below', async () => {
    const workshop = await openWith({ 'trip/day/a.png': png(3, 2).bytes })
    const trip = join(workshop.pictures, 'trip')
    copyTo(trip, `${workshop.pictures}-copy`)
    for (let n = 0; n < 20; n++) workshop.write(`trip/later/${n}.png`, png(4, 2 + n).bytes)
    await workshop.pass()
    swap(trip, `${workshop.pictures}-copy`)
    expect(await guarded(workshop)).toEqual(OTHER)
  })

  it.each(['before', 'after'])(
    'is in doubt when a folder that it lacks is made anew %s it was looked at',
    async when => {
      const workshop = await openWith({ 'trip/a.png': png(3, 2).bytes })
      const { pictures } = workshop
      const trip = join(pictures, 'trip')
      copyTo(trip, `${pictures}-copy`)
      workshop.write('trip/day/b.png', png(3, 3).bytes)
      await workshop.pass()
      swap(trip, `${pictures}-copy`)
      if (when === 'after') expect(await guarded(workshop)).toEqual(OTHER)
      workshop.write('trip/day/c.png', png(3, 4).bytes)
      expect(await guarded(workshop)).toEqual(OTHER)
      renameSync(join(`${pictures}-copy-before`, 'day/b.png'), join(trip, 'day/b.png'))
      for (const _ of [1, 2]) await workshop.pass()
      expect(mirror(workshop).guard).toBeNull()
      expect(summary(workshop)).toMatchObject({ files: 3, synced: 3, pending_deletions: 0 })
      expect(deleted(workshop)).toBe(0)
    },
  )

  it('is in doubt when all that it shows was deleted from the folder before', async () => {
    const workshop = await openWith({ 'trip/day/a.png': png(3, 2).bytes })
    await workshop.pass()
    const trip = join(workshop.pictures, 'trip')
    renameSync(trip, `${workshop.pictures}-copy`)
    workshop.write('trip/b.png', png(3, 3).bytes)
    await workshop.pass({ graceMs: 600_000 })
    expect(summary(workshop)).toMatchObject({ synced: 1, pending_deletions: 1 })
    swap(trip, `${workshop.pictures}-copy`)
    expect(await guarded(workshop)).toEqual(OTHER)
  })

  it('is in doubt when all that it shows could not be sent', async () => {
    const workshop = await openWith({ 'trip/day/a.png': 'no picture' })
    const trip = join(workshop.pictures, 'trip')
    copyTo(trip, `${workshop.pictures}-copy`)
    workshop.write('trip/b.png', png(3, 3).bytes)
    await workshop.pass()
    expect(summary(workshop)).toMatchObject({ synced: 1, failed: 1 })
    swap(trip, `${workshop.pictures}-copy`)
    expect(await guarded(workshop)).toEqual(OTHER)
  })

  it('is trusted with the folders below that lack pictures too', async () => {
    const workshop = await openWith({ 'trip/a.png': png(3, 2).bytes, 'trip/day/b.png': png(3, 3).bytes })
    const { pictures } = workshop
    const trip = join(pictures, 'trip')
    copyTo(trip, `${pictures}-copy`)
    for (const [n, path] of ['trip/new.png', 'trip/day/new.png'].entries())
      workshop.write(path, png(4, 4 + n).bytes)
    await workshop.pass()
    swap(trip, `${pictures}-copy`)
    expect(await guarded(workshop)).toEqual(OTHER)
    await trust(workshop, 'trip')
    await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
    expect(deleted(workshop)).toBe(2)
  })

  it.each(['', 'trip'])(
    'in the place of "%s" is in doubt when all it lacks has an upload in doubt',
    async path => {
      const { workshop, folder, copy } = await copiedOf(path)
      workshop.write('trip/new.png', png(7, 7).bytes)
      const send = async () => failure('find_out', 'HOST_ANSWER', 'send')
      await workshop.pass({ host: hostWith(workshop.host, { send }) })
      swap(folder, copy)
      expect(await guarded(workshop)).toEqual(path === '' ? [['', 'ROOT']] : OTHER)
      expect(summary(workshop)).toMatchObject({ synced: 2, uncertain: 1 })
    },
  )

  it.each(['', 'trip'])('in the place of "%s" may lack what was never sent', async path => {
    const { workshop, folder, copy } = await copiedOf(path)
    workshop.write('trip/new.png', 'no picture')
    await workshop.pass()
    expect(summary(workshop)).toMatchObject({ synced: 2, failed: 1 })
    swap(folder, copy)
    for (const _ of [1, 2]) await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
    expect(summary(workshop)).toMatchObject({ files: 2, synced: 2 })
  })

  it('may lack what lies elsewhere in the mirror', async () => {
    const workshop = await copied()
    const { pictures, trip } = workshop
    renameSync(join(trip, '10.png'), join(pictures, 'other/10.png'))
    renameSync(join(trip, '11.png'), join(workshop.copy, 'trip/named.png'))
    swap(trip, join(workshop.copy, 'trip'))
    for (const _ of [1, 2]) await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
    expect(summary(workshop)).toMatchObject({ files: 14, synced: 14, pending_deletions: 0 })
  })

  it('is a move where two folders change names that share a picture, one with newer ones in it and below', async () => {
    const workshop = await openWorkshop()
    const shared = new Date(Date.now() - 3_600_000)
    for (const path of ['one/0.png', 'two/0.png']) {
      workshop.write(path, png(3, 2).bytes)
      utimesSync(join(workshop.pictures, path), shared, shared)
    }
    workshop.write('one/1.png', png(3, 3).bytes)
    workshop.write('two/3.png', png(4, 5).bytes)
    await workshop.pass()
    workshop.write('two/2.png', png(4, 4).bytes)
    workshop.write('two/day/4.png', png(5, 5).bytes)
    await workshop.pass()
    const at = (name: string) => join(workshop.pictures, name)
    renameSync(at('one'), at('aside'))
    renameSync(at('two'), at('one'))
    renameSync(at('aside'), at('two'))
    for (const _ of [1, 2]) await workshop.pass({ hold: { hold_above: 1, hold_min: 1000 } })
    expect(mirror(workshop).guard).toBeNull()
    expect(summary(workshop)).toMatchObject({ files: 6, synced: 6, pending_deletions: 0 })
    expect(count(workshop, 'image_deleted')).toBe(4)
  })

  it('is not known where the disk has no birth times', async () => {
    const workshop = await copied()
    const disk: Disk = { ...realDisk, lstat: path => ({ ...realDisk.lstat(path), birthtime: 0 }) }
    const parts = { disk, lookAt: lookingAt(disk) }
    await workshop.pass(parts)
    swap(workshop.trip, join(workshop.copy, 'trip'))
    for (const _ of [1, 2]) await workshop.pass(parts)
    expect(mirror(workshop).guard).toBeNull()
    expect(deleted(workshop)).toBe(2)
  })
})

it('a known folder that came back lacks what was deleted in it', async () => {
  const workshop = await copied()
  const { trip } = workshop
  workshop.remove('trip/11.png')
  renameSync(trip, `${workshop.pictures}-aside`)
  mkdirSync(trip)
  rmSync(trip, { recursive: true })
  renameSync(`${workshop.pictures}-aside`, trip)
  for (const _ of [1, 2]) await workshop.pass()
  expect(mirror(workshop).guard).toBeNull()
  expect(deleted(workshop)).toBe(1)
})
