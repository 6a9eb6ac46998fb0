import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Disk, realDisk } from '../../../src/local/disk.ts'
import { systemClock } from '../../../src/protocol/clock.ts'
import { approved } from '../../../src/records/escrow.ts'
import { hostWith } from '../../../src/remote/host.ts'
import { recordTrust, trustIn } from '../../../src/sync/scan/trust.ts'
import { fileAt } from '../../../src/sync/tree-path.ts'
import { inWords } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { count, deleted, failure, lookingAt, openWorkshop, red, summary, type Workshop } from '../workshop.ts'

/** As a backup does, the times of folders too. */
const copyTo = (from: string, to: string) => execFileSync('cp', ['-a', from, to])

function copyTrip({ pictures }: Workshop): { trip: string; copy: string } {
  const trip = join(pictures, 'trip')
  const copy = `${pictures}-copy`
  copyTo(trip, copy)
  return { trip, copy }
}

const mirror = ({ synced }: Workshop) => synced.mirrors.byId(1)!

/** A mirror of which an older copy was made, to which then came newer pictures and a newer version. */
async function copied(): Promise<Workshop & { copy: string }> {
  const workshop = await openWorkshop()
  for (let n = 0; n < 10; n++) workshop.write(`trip/${n}.png`, png(3, 2 + n).bytes)
  workshop.write('other/o.png', png(5, 5).bytes)
  const copy = `${workshop.pictures}-copy`
  copyTo(workshop.pictures, copy)
  for (const n of [10, 11]) workshop.write(`trip/${n}.png`, png(3, 2 + n).bytes)
  workshop.write('later/l.png', png(6, 6).bytes)
  await workshop.pass()
  expect(summary(workshop)).toMatchObject({ files: 14, synced: 14 })
  return { ...workshop, copy }
}

async function guarded(workshop: Workshop, parts: Parameters<Workshop['pass']>[0] = {}): Promise<string> {
  const sent = count(workshop, 'picture_uploaded')
  for (const _ of [1, 2, 3]) await workshop.pass(parts)
  expect(deleted(workshop)).toBe(0)
  expect(count(workshop, 'picture_uploaded')).toBe(sent)
  return inWords(mirror(workshop).guard!)
}

async function trust(workshop: Workshop, path: string): Promise<void> {
  const trust = trustIn(realDisk, workshop.synced, mirror(workshop), path)
  if (trust.kind !== 'root' && trust.kind !== 'folder') throw new Error(trust.kind)
  await recordTrust(workshop.synced, trust)
}

/** A disk on which a folder can be listed, and nothing in it can be looked at. */
const shut = (folder: string): Disk => ({
  ...realDisk,
  lstat(path) {
    if (path.startsWith(`${folder}/`)) throw Object.assign(new Error('shut'), { code: 'EACCES' })
    return realDisk.lstat(path)
  },
})

const swap = (one: string, other: string) => {
  renameSync(one, `${other}-before`)
  renameSync(other, one)
}

describe('an older copy', () => {
  it('in the place of the root deletes nothing, and is no matter once it is gone', async () => {
    const workshop = await copied()
    const { pictures, copy } = workshop
    swap(pictures, copy)
    expect(await guarded(workshop)).toContain(`${pictures} is another folder than before, and not all of`)
    rmSync(pictures, { recursive: true })
    renameSync(`${copy}-before`, pictures)
    await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
    expect(summary(workshop)).toMatchObject({ files: 14, synced: 14, pending_deletions: 0 })
  })

  it('in the place of a folder is known where a picture came just after the copy was made', async () => {
    const workshop = await copied()
    const trip = join(workshop.pictures, 'trip')
    const copy = join(workshop.copy, 'trip')
    swap(trip, copy)
    // A disk with coarse times gives the picture and the copied folder the same time.
    const { ctimeNs } = statSync(join(`${copy}-before`, '11.png'), { bigint: true })
    execFileSync('touch', [
      '-m',
      '-d',
      `@${ctimeNs / 1_000_000_000n}.${`${ctimeNs % 1_000_000_000n}`.padStart(9, '0')}`,
      trip,
    ])
    for (const _ of [1, 2, 3]) await workshop.pass()
    expect(deleted(workshop)).toBe(0)
    expect(summary(workshop)).toMatchObject({ pending_deletions: 0 })
  })

  it('in the place of the root is the truth when a person says so', async () => {
    const workshop = await copied()
    swap(workshop.pictures, workshop.copy)
    await workshop.pass()
    await trust(workshop, '')
    await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
    expect(deleted(workshop)).toBe(3)
  })

  it('in the place of a folder is in doubt when all that it lacks is a folder in it', async () => {
    const workshop = await openWorkshop()
    workshop.write('trip/a.png', png(3, 2).bytes)
    const { trip, copy } = copyTrip(workshop)
    workshop.write('trip/day/b.png', png(3, 3).bytes)
    await workshop.pass()
    swap(trip, copy)
    expect(await guarded(workshop)).toContain(join(trip, 'day'))
    expect(summary(workshop)).toMatchObject({ synced: 2, pending_deletions: 0 })
  })

  it('in the place of a folder is in doubt, for a person who prunes too, when it lacks what a rule hid', async () => {
    const workshop = await openWorkshop()
    workshop.write('trip/a.png', png(3, 2).bytes)
    const trip = join(workshop.pictures, 'trip')
    copyTo(trip, `${workshop.pictures}-copy`)
    workshop.write('trip/day/deep/b.png', png(3, 3).bytes)
    await workshop.pass()
    workshop.write('.albumdignore', 'day/\n')
    await workshop.pass()
    workshop.write('.albumdignore', '')
    swap(trip, `${workshop.pictures}-copy`)
    // A pass that does not prune, and a new picture, end no doubt.
    for (const prunes of [true, false, true]) {
      workshop.mirror.pruneIgnored = prunes
      expect(await guarded(workshop)).toContain(join(trip, 'day'))
      workshop.write('trip/new.png', png(7, 7).bytes)
      await workshop.pass()
    }
    await trust(workshop, 'trip/day')
    for (const _ of [1, 2]) await workshop.pass()
    expect(deleted(workshop)).toBe(1)
  })

  it('in the place of a folder is in doubt, also when it gets new pictures', async () => {
    const workshop = await copied()
    const trip = join(workshop.pictures, 'trip')
    swap(trip, join(workshop.copy, 'trip'))
    expect(await guarded(workshop)).toContain('trip (An older copy is here')
    workshop.write('trip/new.png', png(7, 7).bytes)
    expect(await guarded(workshop)).toContain('trip (An older copy is here')
    await trust(workshop, 'trip')
    await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
    expect(deleted(workshop)).toBe(2)
  })

  it('of a whole disk, with the inode and the birth time of the root, is known by the times of its folders', async () => {
    const workshop = await copied()
    const { pictures, copy } = workshop
    let device = 1
    const disk: Disk = {
      ...realDisk,
      lstat: path => {
        const stat = realDisk.lstat(path)
        return path === pictures ? { ...stat, dev: device, ino: 2, birthtime: 3 } : { ...stat, dev: device }
      },
    }
    const parts = { disk, lookAt: lookingAt(disk) }
    await workshop.pass(parts)
    // A reboot, and a picture that was deleted meanwhile.
    device++
    workshop.remove('other/o.png')
    rmSync(join(copy, 'other/o.png'))
    await workshop.pass(parts)
    await workshop.pass(parts)
    expect(mirror(workshop).guard).toBeNull()
    expect(deleted(workshop)).toBe(1)
    workshop.events.length = 0
    device++
    swap(pictures, copy)
    expect(await guarded(workshop, parts)).toMatch(/(trip|later) and 1 more \(An older copy is here/)
    rmSync(pictures, { recursive: true })
    renameSync(`${copy}-before`, pictures)
    await workshop.pass(parts)
    expect(mirror(workshop).guard).toBeNull()
    expect(summary(workshop)).toMatchObject({ files: 13, synced: 13, pending_deletions: 0 })
  })

  it.each(['', 'trip'])(
    'in the place of "%s" is in doubt when all it lacks has an upload in doubt',
    async path => {
      const workshop = await openWorkshop()
      for (const n of [0, 1]) workshop.write(`trip/${n}.png`, png(3, 2 + n).bytes)
      const folder = join(workshop.pictures, path)
      const copy = `${workshop.pictures}-copy`
      copyTo(folder, copy)
      await workshop.pass()
      workshop.write('trip/new.png', png(7, 7).bytes)
      const send = async () => failure('find_out', 'HOST_ANSWER', 'send')
      await workshop.pass({ host: hostWith(workshop.host, { send }) })
      expect(summary(workshop)).toMatchObject({ synced: 2, uncertain: 1 })
      swap(folder, copy)
      expect(await guarded(workshop)).toMatch(
        /older copy is here|is another folder than before, and not all of/i,
      )
      expect(summary(workshop)).toMatchObject({ synced: 2, uncertain: 1 })
    },
  )

  it('in the place of a folder is in doubt when nothing was recorded since it was made, but an upload in doubt', async () => {
    const workshop = await openWorkshop()
    for (const n of [0, 1]) workshop.write(`trip/${n}.png`, png(3, 2 + n).bytes)
    await workshop.pass({ clock: { ...systemClock, wall: () => Date.now() - 60_000 } })
    workshop.write('trip/notes.txt', 'changes the folder')
    const { trip, copy } = copyTrip(workshop)
    workshop.write('trip/new.png', png(7, 7).bytes)
    const send = async () => failure('find_out', 'HOST_ANSWER', 'send')
    await workshop.pass({ host: hostWith(workshop.host, { send }) })
    swap(trip, copy)
    expect(await guarded(workshop)).toContain('trip (An older copy is here')
    expect(summary(workshop)).toMatchObject({ synced: 2, uncertain: 1 })
  })

  it('in the place of a folder is in doubt when its pictures can not be looked at any more', async () => {
    const workshop = await copied()
    const trip = join(workshop.pictures, 'trip')
    swap(trip, join(workshop.copy, 'trip'))
    expect(await guarded(workshop, { disk: shut(trip) })).toContain('trip (An older copy is here')
  })

  it('in the place of a folder is in doubt when it holds no picture at all', async () => {
    const workshop = await openWorkshop()
    workshop.write('trip/film.mov', 'no format of a picture')
    const { trip, copy } = copyTrip(workshop)
    workshop.write('trip/a.png', png(3, 2).bytes)
    await workshop.pass()
    swap(trip, copy)
    expect(await guarded(workshop)).toContain('trip (An older copy is here')
    workshop.write('trip/new.png', png(7, 7).bytes)
    expect(await guarded(workshop)).toContain('trip (An older copy is here')
    swap(trip, `${copy}-before`)
    await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
  })

  it.each(['failed', 'pending_uploads'])(
    'is in doubt when the one picture that it holds counts as %s',
    async state => {
      const workshop = await openWorkshop()
      const host = hostWith(workshop.host, {
        requestUpload: async (request, signal) =>
          request.file_name === 'old.png'
            ? failure('storage', 'STORAGE_LIMIT_REACHED', 'upload')
            : workshop.host.requestUpload(request, signal),
      })
      workshop.write('trip/old.png', state === 'failed' ? 'no picture' : png(3, 2).bytes)
      await workshop.pass({ host })
      const copy = `${workshop.pictures}-copy`
      copyTo(join(workshop.pictures, 'trip'), copy)
      workshop.write('trip/new.png', png(7, 7).bytes)
      await workshop.pass({ host })
      expect(summary(workshop)).toMatchObject({ synced: 1, [state]: 1 })
      swap(join(workshop.pictures, 'trip'), copy)
      expect(await guarded(workshop, { host })).toContain('trip (An older copy is here')
    },
  )

  it.each([
    ['a newer time', 1_000],
    ['the same time', 0],
    ['an older time', -1_000],
  ])(
    'with an older version of a picture does not replace the newer one, which has %s',
    async (_, seconds) => {
      const workshop = await openWorkshop()
      workshop.write('trip/a.png', png(3, 2).bytes)
      workshop.write('trip/b.png', png(3, 3).bytes)
      const picture = join(workshop.pictures, 'trip/a.png')
      const { mtimeMs } = statSync(picture)
      const copy = `${workshop.pictures}-copy`
      copyTo(join(workshop.pictures, 'trip'), copy)
      workshop.write('trip/a.png.tmp', png(4, 4).bytes)
      utimesSync(`${picture}.tmp`, mtimeMs / 1000, mtimeMs / 1000 + seconds)
      renameSync(`${picture}.tmp`, picture)
      const ctime = async () => {
        await workshop.pass()
        return fileAt(workshop.synced, 1, 'trip/a.png')!.ctime
      }
      // Of a picture that was read at once, the ctime is known only later.
      await expect.poll(ctime).not.toBe(0)

      swap(join(workshop.pictures, 'trip'), copy)
      expect(await guarded(workshop)).toContain('trip (An older copy is here')
    },
  )

  it.each(['trip', 'trip/day'])(
    'in the place of a folder is in doubt when "%s" in it holds an empty folder alone',
    async path => {
      const workshop = await openWorkshop()
      workshop.write('other/o.png', png(5, 5).bytes)
      if (path !== 'trip') workshop.write('trip/a.png', png(3, 2).bytes)
      workshop.write(`${path}/raw/film.mov`, 'no format of a picture')
      await workshop.pass()
      const { trip, copy } = copyTrip(workshop)
      workshop.write(`${path}/b.png`, png(3, 3).bytes)
      await workshop.pass()
      swap(trip, copy)
      expect(await guarded(workshop)).toContain(`${path} (An older copy is here`)
    },
  )

  it('in the place of a folder is in doubt when it holds few of very many pictures', async () => {
    const workshop = await openWorkshop()
    workshop.write('trip/z.png', png(3, 2).bytes)
    const { trip, copy } = copyTrip(workshop)
    for (let n = 0; n < 210; n++) workshop.write(`trip/${n}.png`, png(3 + n, 3).bytes)
    await workshop.pass()
    swap(trip, copy)
    expect(await guarded(workshop)).toContain('trip (An older copy is here')
  })

  it('in the place of a folder is in doubt when the pictures that it holds have other names now', async () => {
    const workshop = await copied()
    const trip = join(workshop.pictures, 'trip')
    for (let n = 0; n < 10; n++) renameSync(join(trip, `${n}.png`), join(trip, `day-${n}.png`))
    await workshop.pass()
    const before = deleted(workshop)
    swap(trip, join(workshop.copy, 'trip'))
    for (const _ of [1, 2]) await workshop.pass()
    expect(inWords(mirror(workshop).guard!)).toContain('trip (An older copy is here')
    expect(deleted(workshop)).toBe(before)
    expect(summary(workshop)).toMatchObject({ files: 14, synced: 14, pending_deletions: 0 })
  })

  it.each([
    ['a rule hides it', { rules: 'known.png', folder: 'none' }],
    ['nobody can read its folder', { rules: '', folder: 'trip/day' }],
  ])(
    'in the place of a folder is in doubt when its known picture is not shown, because %s',
    async (_, { rules, folder }) => {
      const workshop = await openWorkshop()
      workshop.write('trip/deleted.png', png(3, 2).bytes)
      workshop.write('trip/day/known.png', png(3, 3).bytes)
      await workshop.pass()
      const { trip, copy } = copyTrip(workshop)
      rmSync(join(trip, 'deleted.png'))
      workshop.write('trip/new.png', png(7, 7).bytes)
      await workshop.pass()
      const before = deleted(workshop)
      workshop.write('.albumdignore', rules)
      const disk = shut(join(workshop.pictures, folder))
      await workshop.pass({ disk })
      swap(trip, copy)
      for (const _ of [1, 2, 3]) await workshop.pass({ disk })
      expect(inWords(mirror(workshop).guard!)).toContain('trip (An older copy is here')
      expect(deleted(workshop)).toBe(before)
    },
  )

  it('in the place of a folder is in doubt when its backup keeps whole seconds', async () => {
    const { pictures, ...workshop } = await copied()
    const archive = `${pictures}.tar`
    execFileSync('tar', ['-C', `${pictures}-copy`, '--format=gnu', '-cf', archive, 'trip'])
    rmSync(join(pictures, 'trip'), { recursive: true })
    execFileSync('tar', ['-C', pictures, '-xpf', archive])
    rmSync(archive)
    expect(await guarded({ pictures, ...workshop })).toContain('trip (An older copy is here')
  })

  it('in the place of a folder is in doubt when it lacks a picture that was gone when it was made', async () => {
    const workshop = await openWorkshop()
    for (const n of [0, 1]) workshop.write(`trip/${n}.png`, png(3, 2 + n).bytes)
    await workshop.pass({ clock: { ...systemClock, wall: () => Date.now() - 60_000 } })
    const trip = join(workshop.pictures, 'trip')
    const copy = `${workshop.pictures}-copy`
    renameSync(join(trip, '1.png'), `${copy}.png`)
    await workshop.pass({ graceMs: 3_600_000 })
    const before = Date.now() / 1000 - 30
    utimesSync(trip, before, before)
    copyTo(trip, copy)
    renameSync(`${copy}.png`, join(trip, '1.png'))
    workshop.write('other/o.png', png(5, 5).bytes)
    await workshop.pass({ graceMs: 3_600_000 })
    expect(summary(workshop)).toMatchObject({ synced: 3, pending_deletions: 0 })
    swap(trip, copy)
    expect(await guarded(workshop)).toContain('trip (An older copy is here')
  })

  it.each([
    ['copy', copyTo],
    ['hard link', linkSync],
  ])('in the place of a folder is in doubt when a %s of what it lacks lies elsewhere', async (_, make) => {
    const workshop = await openWorkshop()
    for (const n of [0, 1]) workshop.write(`trip/${n}.png`, png(3, 2 + n).bytes)
    const { trip, copy } = copyTrip(workshop)
    workshop.write('trip/new.png', red)
    mkdirSync(join(workshop.pictures, 'inbox'))
    make(join(trip, 'new.png'), join(workshop.pictures, 'inbox/new.png'))
    const ctimes = async () => {
      await workshop.pass()
      return ['trip', 'inbox'].map(folder => fileAt(workshop.synced, 1, `${folder}/new.png`)!.ctime)
    }
    // Of a picture that was read at once, the ctime is known only later.
    await expect.poll(ctimes).not.toContain(0)
    expect(summary(workshop)).toMatchObject({ synced: 4 })
    swap(trip, copy)
    await workshop.pass()
    workshop.remove('inbox/new.png')
    expect(await guarded(workshop)).toContain('trip (An older copy is here')
  })

  it('with the version before the one whose upload is in doubt does not replace that', async () => {
    const workshop = await openWorkshop()
    for (const n of [0, 1]) workshop.write(`trip/${n}.png`, png(3, 2 + n).bytes)
    const { trip, copy } = copyTrip(workshop)
    await workshop.pass()
    workshop.write('trip/0.png.tmp', png(4, 4).bytes)
    renameSync(join(trip, '0.png.tmp'), join(trip, '0.png'))
    const send = async () => failure('find_out', 'HOST_ANSWER', 'send')
    await workshop.pass({ host: hostWith(workshop.host, { send }) })
    expect(summary(workshop)).toMatchObject({ synced: 1, uncertain: 1 })
    swap(trip, copy)
    expect(await guarded(workshop)).toContain('trip (An older copy is here')
    expect(summary(workshop)).toMatchObject({ synced: 1, uncertain: 1 })
  })

  it.each([
    ['ignored', '', 'trip/\n'],
    ['left out', 'link', ''],
  ])('stays in doubt when it was %s meanwhile', async (_, link, rules) => {
    const workshop = await copied()
    const trip = join(workshop.pictures, 'trip')
    swap(trip, join(workshop.copy, 'trip'))
    await workshop.pass()
    if (link) {
      renameSync(trip, `${workshop.pictures}-linked`)
      symlinkSync(`${workshop.pictures}-linked`, trip)
    }
    workshop.write('.albumdignore', rules)
    workshop.write('trip/new.png', png(7, 7).bytes)
    await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
    if (link) {
      rmSync(trip)
      renameSync(`${workshop.pictures}-linked`, trip)
    }
    workshop.write('.albumdignore', '')
    expect(await guarded(workshop)).toContain('trip (An older copy is here')
    await trust(workshop, 'trip')
    await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
    expect(deleted(workshop)).toBe(2)
  })

  it.each(['an older version', 'none of an upload in doubt'])(
    'with %s of a picture stays in doubt when it was ignored meanwhile',
    async what => {
      const workshop = await openWorkshop()
      for (const n of [0, 1]) workshop.write(`trip/${n}.png`, png(3, 2 + n).bytes)
      const { trip, copy } = copyTrip(workshop)
      await workshop.pass()
      const name = what === 'an older version' ? '0.png' : 'new.png'
      workshop.write('trip/new.tmp', png(4, 4).bytes)
      renameSync(join(trip, 'new.tmp'), join(trip, name))
      const send = async () => failure('find_out', 'HOST_ANSWER', 'send')
      const host = name === 'new.png' ? hostWith(workshop.host, { send }) : workshop.host
      await workshop.pass({ host, graceMs: 3_600_000 })
      swap(trip, copy)
      await workshop.pass()
      workshop.write('.albumdignore', 'trip/\n')
      workshop.write('trip/another.png', png(7, 7).bytes)
      await workshop.pass()
      workshop.write('.albumdignore', '')
      expect(await guarded(workshop)).toContain('trip (An older copy is here')
    },
  )

  it.each(["Folder can't be read", 'The ignore file has just vanished'])(
    'stays in doubt when it gets a new picture, and then: %s',
    async trouble => {
      const workshop = await copied()
      const trip = join(workshop.pictures, 'trip')
      const copy = join(workshop.copy, 'trip')
      for (const folder of [trip, copy]) writeFileSync(join(folder, '.albumdignore'), '*.tmp')
      utimesSync(copy, 1000, 1000)
      await workshop.pass()
      swap(trip, copy)
      await workshop.pass()
      workshop.write('trip/new.png', png(7, 7).bytes)
      const disk: Disk = {
        ...realDisk,
        readFolder(path) {
          if (path === trip) throw Object.assign(new Error('shut'), { code: 'EACCES' })
          return realDisk.readFolder(path)
        },
      }
      if (trouble.startsWith('The ignore')) {
        rmSync(join(trip, '.albumdignore'))
        await workshop.pass()
      } else await workshop.pass({ disk, lookAt: lookingAt(disk) })
      expect(inWords(mirror(workshop).guard!)).toContain(
        `trip (An older copy is here, without the newest pictures; ${trouble}`,
      )
      expect(await guarded(workshop)).toContain('trip (An older copy is here, without the newest pictures)')
      await trust(workshop, 'trip')
      await workshop.pass()
      expect(mirror(workshop).guard).toBeNull()
      expect(deleted(workshop)).toBe(2)
    },
  )

  it('deletes nothing while it is in doubt that was gone before', async () => {
    const workshop = await copied()
    workshop.remove('other/o.png')
    workshop.remove('trip/11.png')
    await workshop.pass({ graceMs: 1000 })
    expect(summary(workshop)).toMatchObject({ pending_deletions: 2 })
    const trip = join(workshop.pictures, 'trip')
    swap(trip, join(workshop.copy, 'trip'))
    const running = () => 2000
    expect(await guarded(workshop, { running })).toContain('trip (An older copy is here')
    await trust(workshop, 'trip')
    await workshop.pass({ running })
    expect(deleted(workshop)).toBe(3)
  })

  it('stays in doubt when a folder above it is renamed', async () => {
    const workshop = await openWorkshop()
    workshop.write('other/o.png', png(5, 5).bytes)
    workshop.write('top/trip/0.png', png(3, 2).bytes)
    const trip = join(workshop.pictures, 'top/trip')
    const copy = `${workshop.pictures}-copy`
    copyTo(trip, copy)
    workshop.write('top/trip/1.png', png(3, 3).bytes)
    await workshop.pass()
    swap(trip, copy)
    await workshop.pass()
    renameSync(join(workshop.pictures, 'top'), join(workshop.pictures, 'top2'))
    for (const _ of [1, 2]) await workshop.pass()
    expect(deleted(workshop)).toBe(0)
    expect(inWords(mirror(workshop).guard!)).toContain('top and 1 more (An older copy is here')
    renameSync(join(workshop.pictures, 'top2'), join(workshop.pictures, 'top'))
    rmSync(trip, { recursive: true })
    renameSync(`${copy}-before`, trip)
    for (const _ of [1, 2]) await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
    expect(summary(workshop)).toMatchObject({ files: 3, synced: 3, pending_deletions: 0 })
  })
})

describe('an older copy that comes when albumd has missed its folder', () => {
  const GRACE = { graceMs: 3_600_000 }

  /** One whose folder `trip` was taken away. Albumd has noticed that all of it is gone. */
  async function missing(): Promise<Workshop & { copy: string; trip: string; aside: string }> {
    const workshop = await copied()
    const trip = join(workshop.pictures, 'trip')
    const aside = `${workshop.pictures}-aside`
    renameSync(trip, aside)
    await workshop.pass(GRACE)
    expect(summary(workshop)).toMatchObject({ files: 2, pending_deletions: 12 })
    return { ...workshop, copy: join(workshop.copy, 'trip'), trip, aside }
  }

  it('is in doubt, and is no matter once the newer folder is back', async () => {
    const workshop = await missing()
    const { copy, trip, aside } = workshop
    renameSync(copy, trip)
    expect(await guarded(workshop)).toContain('trip (An older copy is here')
    expect(summary(workshop)).toMatchObject({
      files: 14,
      synced: 14,
      pending_uploads: 0,
      pending_deletions: 0,
    })
    const [newest] = workshop.synced.history.of({ mirror: 1, path: 'trip/11.png' }).slice(-1)
    expect(inWords(newest!.detail!)).toBe('gone with its folder, of which an older copy is here now')
    renameSync(trip, copy)
    renameSync(aside, trip)
    const sent = count(workshop, 'picture_uploaded')
    for (const _ of [1, 2]) await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
    expect(summary(workshop)).toMatchObject({ files: 14, synced: 14, pending_deletions: 0 })
    expect([count(workshop, 'picture_uploaded'), deleted(workshop)]).toEqual([sent, 0])
  })

  it('is the truth when a person says so, and what it lacks gets a new grace', async () => {
    const workshop = await missing()
    renameSync(workshop.copy, workshop.trip)
    await workshop.pass(GRACE)
    await trust(workshop, 'trip')
    await workshop.pass({ ...GRACE, running: () => 1000 })
    expect(mirror(workshop).guard).toBeNull()
    const due = workshop.synced.escrow.ofMirror(1).map(({ path, due_at }) => [path, due_at])
    expect(due).toEqual(['trip/10.png', 'trip/11.png'].map(path => [path, 3_601_000]))
  })

  it('is in doubt where the process died between the record of the folder and its first look', async () => {
    const workshop = await missing()
    workshop.synced.commitNow(tx => tx.folders.add(1, 'trip'))
    renameSync(workshop.copy, workshop.trip)
    expect(await guarded(workshop)).toContain('trip (An older copy is here')
  })

  it.each([
    ['an empty folder', 'trip'],
    ['a folder with an empty folder in it', 'trip/day/morning'],
  ])('is in doubt where %s was seen in its place before', async (_, there) => {
    const workshop = await missing()
    const { copy, trip } = workshop
    mkdirSync(join(workshop.pictures, there), { recursive: true })
    for (const _ of [1, 2]) await workshop.pass(GRACE)
    expect(mirror(workshop).guard).toBeNull()
    rmSync(trip, { recursive: true })
    renameSync(copy, trip)
    expect(await guarded(workshop)).toContain('trip (An older copy is here')
  })

  it('is in doubt once it can be read', async () => {
    const workshop = await missing()
    const { copy, trip } = workshop
    renameSync(copy, trip)
    const disk: Disk = {
      ...realDisk,
      readFolder(path) {
        if (path === trip) throw Object.assign(new Error('shut'), { code: 'EACCES' })
        return realDisk.readFolder(path)
      },
    }
    await workshop.pass({ ...GRACE, disk, lookAt: lookingAt(disk) })
    expect(inWords(mirror(workshop).guard!)).toContain('EACCES')
    expect(await guarded(workshop)).toContain('trip (An older copy is here')
  })

  it('is in doubt where all that it lacks is a folder in it, or what was in a folder of that', async () => {
    const workshop = await openWorkshop()
    workshop.write('other/o.png', png(5, 5).bytes)
    workshop.write('trip/a.png', png(3, 2).bytes)
    const { trip, copy } = copyTrip(workshop)
    await workshop.pass()
    workshop.write('trip/day/deep/b.png', png(3, 3).bytes)
    await workshop.pass()
    renameSync(trip, `${copy}-before`)
    await workshop.pass(GRACE)
    renameSync(copy, trip)
    expect(await guarded(workshop)).toContain(join(trip, 'day'))
    renameSync(trip, copy)
    renameSync(`${copy}-before`, trip)
    for (const _ of [1, 2]) await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
    expect(summary(workshop)).toMatchObject({ files: 3, synced: 3, pending_deletions: 0 })
  })

  it('is in doubt where the picture that it holds lies in a folder of it', async () => {
    const workshop = await openWorkshop()
    workshop.write('other/o.png', png(5, 5).bytes)
    workshop.write('trip/day/a.png', png(3, 2).bytes)
    const { trip, copy } = copyTrip(workshop)
    await workshop.pass()
    workshop.write('trip/b.png', png(3, 3).bytes)
    await workshop.pass()
    renameSync(trip, `${copy}-before`)
    await workshop.pass(GRACE)
    renameSync(copy, trip)
    expect(await guarded(workshop)).toContain('trip (An older copy is here')
  })

  it.each(['', 'trip', 'trip/day'])(
    'is in doubt where all that was in "%s" was moved away, and comes as it was',
    async path => {
      const workshop = await openWorkshop()
      const emptied = join(workshop.pictures, path === 'trip/day' ? 'trip' : path)
      const at = (name: string) => (path === '' ? name : `${path}/${name}`)
      for (const name of [at('notes.txt'), 'trip/notes.txt', 'other/o.png'])
        workshop.write(name, png(5, 5).bytes)
      workshop.write(at('a.png'), png(3, 2).bytes)
      const copy = `${workshop.pictures}-copy`
      copyTo(emptied, copy)
      workshop.write(`${path === 'trip/day' ? 'trip/later/' : at('')}b.png`, png(3, 3).bytes)
      await workshop.pass()
      const before = `${copy}-before`
      mkdirSync(before)
      for (const name of readdirSync(emptied).filter(name => name !== 'notes.txt'))
        renameSync(join(emptied, name), join(before, name))
      await workshop.pass(GRACE)
      execFileSync('cp', ['-a', `${copy}/.`, emptied])
      expect(await guarded(workshop)).toContain('An older copy is here')
      for (const name of readdirSync(before)) copyTo(join(before, name), emptied)
      for (const _ of [1, 2]) await workshop.pass()
      expect([mirror(workshop).guard, deleted(workshop)]).toEqual([null, 0])
    },
  )

  it('is in doubt where it holds an older version of a picture', async () => {
    const workshop = await openWorkshop()
    workshop.write('other/o.png', png(5, 5).bytes)
    for (const n of [0, 1]) workshop.write(`trip/${n}.png`, png(3, 2 + n).bytes)
    const { trip, copy } = copyTrip(workshop)
    await workshop.pass()
    workshop.write('trip/0.png.tmp', png(4, 4).bytes)
    renameSync(join(trip, '0.png.tmp'), join(trip, '0.png'))
    await workshop.pass(GRACE)
    renameSync(trip, `${copy}-before`)
    await workshop.pass(GRACE)
    renameSync(copy, trip)
    expect(await guarded(workshop)).toContain('trip (An older copy is here')
  })

  it('is none where it is the folder itself, from which a person had deleted pictures', async () => {
    const workshop = await copied()
    const trip = join(workshop.pictures, 'trip')
    workshop.remove('trip/11.png')
    await workshop.pass(GRACE)
    renameSync(trip, `${workshop.pictures}-aside`)
    await workshop.pass(GRACE)
    renameSync(`${workshop.pictures}-aside`, trip)
    for (const _ of [1, 2]) await workshop.pass(GRACE)
    expect(mirror(workshop).guard).toBeNull()
    expect(workshop.synced.escrow.ofMirror(1).map(({ path }) => path)).toEqual(['trip/11.png'])
  })

  it('is none where another folder gets the name, or a person has approved the deletions', async () => {
    const workshop = await missing()
    const { copy, trip } = workshop
    const images = workshop.synced.escrow.ofMirror(1).map(({ image }) => image)
    mkdirSync(trip)
    workshop.write('trip/0.png', png(9, 9).bytes)
    utimesSync(trip, 1000, 1000)
    for (const _ of [1, 2]) await workshop.pass(GRACE)
    expect(mirror(workshop).guard).toBeNull()
    expect(summary(workshop)).toMatchObject({ files: 3, pending_deletions: 12 })
    rmSync(trip, { recursive: true })
    workshop.synced.commitNow(tx => approved(tx, images, 0))
    renameSync(copy, trip)
    await workshop.pass({ ...GRACE, running: () => -1 })
    expect(mirror(workshop).guard).toBeNull()
  })
})

describe('no older copy', () => {
  it('is a copy of a folder that was changed before albumd looked at it', async () => {
    const workshop = await copied()
    swap(join(workshop.pictures, 'trip'), join(workshop.copy, 'trip'))
    workshop.write('trip/new.png', png(7, 7).bytes)
    for (const _ of [1, 2]) await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
    expect(deleted(workshop)).toBe(2)
  })

  it.each(['', 'trip'])('is a backup in the place of "%s" that lacks what was never sent', async path => {
    const workshop = await openWorkshop()
    for (const n of [0, 1]) workshop.write(`trip/${n}.png`, png(3, 2 + n).bytes)
    const folder = join(workshop.pictures, path)
    const copy = `${workshop.pictures}-copy`
    copyTo(folder, copy)
    await workshop.pass()
    workshop.write('trip/new.png', 'no picture')
    await workshop.pass()
    expect(summary(workshop)).toMatchObject({ synced: 2, failed: 1 })
    swap(folder, copy)
    for (const _ of [1, 2]) await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
    expect(summary(workshop)).toMatchObject({ files: 2, synced: 2 })
  })

  it('is a folder that was restored whole, or got its name by a rename', async () => {
    const workshop = await copied()
    const { pictures } = workshop
    copyTo(pictures, `${pictures}-whole`)
    swap(pictures, `${pictures}-whole`)
    await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
    // A folder that was made before the newest pictures of `trip` came, and takes the name.
    renameSync(join(pictures, 'trip'), join(pictures, 'trip-old'))
    mkdirSync(join(pictures, 'trip'))
    workshop.write('trip/0.png', png(9, 9).bytes)
    utimesSync(join(pictures, 'trip'), 1000, 1000)
    for (const _ of [1, 2]) await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
    expect(summary(workshop)).toMatchObject({ files: 15, synced: 15, pending_deletions: 0 })
  })

  it('is a whole copy, although the pictures had got other rights before', async () => {
    const workshop = await openWorkshop()
    for (const n of [0, 1]) workshop.write(`trip/${n}.png`, png(3, 2 + n).bytes)
    const { trip, copy } = copyTrip(workshop)
    await workshop.pass()
    for (const n of [0, 1]) chmodSync(join(trip, `${n}.png`), 0o600)
    for (const _ of [1, 2]) await workshop.pass()
    swap(trip, copy)
    for (const _ of [1, 2]) await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
    expect(summary(workshop)).toMatchObject({ synced: 2, pending_deletions: 0 })
  })

  it('is a folder that gets its name back, without what another folder of the name held below', async () => {
    const workshop = await openWorkshop()
    const at = (path: string) => join(workshop.pictures, path)
    workshop.write('trip/a.png', png(3, 2).bytes)
    await workshop.pass()
    renameSync(at('trip'), at('before'))
    for (const name of ['b.png', 'below/c.png']) workshop.write(`trip/${name}`, png(4, 3).bytes)
    await workshop.pass()
    renameSync(at('trip'), at('other'))
    renameSync(at('before'), at('trip'))
    for (const _ of [1, 2]) await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
    expect(summary(workshop)).toMatchObject({ files: 3, synced: 3, pending_deletions: 0 })
  })

  it('is a folder whose last picture a person has deleted', async () => {
    const workshop = await openWorkshop()
    for (const name of ['film.mov', 'a.png']) workshop.write(`trip/${name}`, png(3, 2).bytes)
    await workshop.pass()
    workshop.remove('trip/a.png')
    for (const _ of [1, 2]) await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
    expect(deleted(workshop)).toBe(1)
  })

  it('is a folder whose pictures a person has deleted, or put back as they were', async () => {
    const workshop = await copied()
    workshop.remove('trip/11.png')
    workshop.remove('later')
    copyTo(join(workshop.copy, 'trip/0.png'), join(workshop.pictures, 'trip/1.png'))
    for (const _ of [1, 2]) await workshop.pass()
    expect(mirror(workshop).guard).toBeNull()
    expect(deleted(workshop)).toBe(3)
  })
})
