import { mkdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Disk, realDisk } from '../../../src/local/disk.ts'
import { type FolderToLookAt, lookAtFolder } from '../../../src/local/look.ts'
import { hostWith } from '../../../src/remote/host.ts'
import type { EngineContext } from '../../../src/sync/context.ts'
import { recordTrust, trustIn } from '../../../src/sync/scan/trust.ts'
import { codeOf, folderIn } from '../../../src/words/reasons.ts'
import { png } from '../../pictures.ts'
import { green, lookingAt, openWorkshop, red, scan, type Workshop } from '../workshop.ts'

/** A mirror with a disk mounted at `album/usb`: by its device, which a test gives. */
class Mounting {
  readonly workshop: Workshop
  device = 7001
  /** The paths of folders that are roots of mounted disks. */
  mounts: string[]

  constructor(workshop: Workshop) {
    this.workshop = workshop
    this.mounts = [this.in('album/usb')]
  }

  in(path: string): string {
    return join(this.workshop.pictures, path)
  }

  /** Takes the disk away: what lies below it shows, an empty folder. */
  unmount(path = 'album/usb'): void {
    renameSync(this.in(path), `${this.workshop.pictures}-usb`)
    mkdirSync(this.in(path))
    this.mounts = []
  }

  mount(path = 'album/usb'): void {
    rmSync(this.in(path), { recursive: true, force: true })
    renameSync(`${this.workshop.pictures}-usb`, this.in(path))
    this.mounts = [this.in(path)]
    // As after a reboot.
    this.device++
  }

  readonly disk: Disk = {
    ...realDisk,
    lstat: path => {
      const stat = realDisk.lstat(path)
      const isMounted = this.mounts.some(mount => path === mount || path.startsWith(`${mount}/`))
      return isMounted ? { ...stat, dev: this.device } : stat
    },
  }

  pass(changes: Partial<EngineContext> = {}) {
    return this.workshop.pass({ disk: this.disk, lookAt: lookingAt(this.disk), ...changes })
  }

  summary() {
    return this.workshop.synced.summaries.mirror(1)
  }

  /** The folders in doubt, with why. None: the mirror is not guarded. */
  doubts(): string[] {
    const { synced } = this.workshop
    const doubts = synced.folders.unknown(1).map(({ path, unknown }) => `${path} ${codeOf(unknown!)}`)
    expect(synced.mirrors.byId(1)!.guard_code).toBe(doubts.length > 0 ? 'FOLDER_UNKNOWN' : null)
    return doubts
  }

  /** The folder that a person would have to trust. */
  toTrust(): string | null {
    return folderIn(this.workshop.synced.mirrors.byId(1)!.guard!)
  }

  deleted(): string[] {
    return this.workshop.events.flatMap(emitted => (emitted.event === 'image_deleted' ? emitted.path : []))
  }

  async trust(path: string): Promise<void> {
    const { synced } = this.workshop
    const trust = trustIn(this.disk, synced, synced.mirrors.byId(1)!, path)
    if (trust.kind !== 'folder' && trust.kind !== 'root') throw new Error(trust.kind)
    await recordTrust(synced, trust)
  }
}

async function mounted(): Promise<Mounting> {
  const mounting = new Mounting(await openWorkshop())
  const { write } = mounting.workshop
  write('top.png', png(9, 9).bytes)
  write('album/plain.png', png(8, 8).bytes)
  write('album/usb/red.png', red)
  write('album/usb/deep/er/green.png', green)
  await mounting.pass()
  expect(mounting.summary()).toMatchObject({ files: 4, synced: 4 })
  return mounting
}

describe('a disk that was hidden by a rule and is gone', () => {
  it.each([
    ['and its mount point is there', ['album/usb/deep/er/green.png'], () => {}],
    ['and so is its mount point', ['album/usb/deep/er/green.png'], (at: string) => rmdirSync(at)],
    [
      'a picture in its root',
      ['album/usb/deep/er/green.png', 'album/usb/red.png'],
      (at: string) => rmdirSync(at),
    ],
  ])('loses no image to a person who prunes what is ignored, but by trust, %s', async (_, left, then) => {
    const mounting = await mounted()
    const { workshop } = mounting
    if (left.length === 1) workshop.remove('album/usb/red.png')
    await mounting.pass()
    workshop.events.length = 0
    workshop.write('.albumdignore', 'album/usb/\n')
    await mounting.pass()
    workshop.write('.albumdignore', '')
    mounting.unmount()
    then(mounting.in('album/usb'))
    workshop.mirror.pruneIgnored = true
    for (const _ of [1, 2]) await mounting.pass()
    expect(mounting.deleted()).toEqual([])
    expect(mounting.doubts()).toEqual(['album/usb folder_unmounted'])
    await mounting.trust('album/usb')
    for (const _ of [1, 2]) await mounting.pass()
    expect(mounting.deleted().toSorted()).toEqual(left)
    expect(workshop.synced.folders.absent(1)).toEqual([])
  })
})

describe('a disk that is mounted over pictures', () => {
  async function covered(): Promise<Mounting> {
    const mounting = new Mounting(await openWorkshop())
    mounting.mounts = []
    mounting.workshop.write('top.png', png(9, 9).bytes)
    mounting.workshop.write('album/usb/red.png', red)
    mounting.workshop.write('album/usb/deep/green.png', green)
    await mounting.pass()
    renameSync(mounting.in('album/usb'), `${mounting.workshop.pictures}-under`)
    mkdirSync(mounting.in('album/usb'))
    mounting.mounts = [mounting.in('album/usb')]
    return mounting
  }

  it('takes no image with it, and is no matter once it is gone', async () => {
    const mounting = await covered()
    mounting.workshop.write('album/usb/other.png', png(4, 4).bytes)
    for (const _ of [1, 2]) await mounting.pass()
    expect(mounting.doubts()).toEqual(['album/usb folder_mounted_over'])
    expect(mounting.summary()).toMatchObject({ synced: 3, pending_uploads: 0, pending_deletions: 0 })
    rmSync(mounting.in('album/usb'), { recursive: true })
    renameSync(`${mounting.workshop.pictures}-under`, mounting.in('album/usb'))
    mounting.mounts = []
    await mounting.pass()
    expect(mounting.doubts()).toEqual([])
    expect(mounting.deleted()).toEqual([])
    expect(mounting.summary()).toMatchObject({ files: 3, synced: 3 })
  })

  it('is believed where a person says so, or where the pictures were moved to it', async () => {
    const trusted = await covered()
    await trusted.pass()
    await trusted.trust('album/usb')
    await trusted.pass()
    expect(trusted.doubts()).toEqual([])
    expect(trusted.deleted()).toHaveLength(2)
    const moved = await covered()
    rmdirSync(moved.in('album/usb'))
    renameSync(`${moved.workshop.pictures}-under`, moved.in('album/usb'))
    await moved.pass()
    expect(moved.doubts()).toEqual([])
    expect(moved.deleted()).toEqual([])
  })
})

describe('a disk that was mounted below the root', () => {
  it('takes no image with it, and is back by itself when it is mounted again', async () => {
    const mounting = await mounted()
    mounting.unmount()
    // The folder below the disk may hold something of its own.
    mounting.workshop.write('album/usb/deep/er/stale.png', png(5, 5).bytes)
    for (const _ of [1, 2]) await mounting.pass()
    expect(mounting.doubts()).toEqual(['album/usb folder_unmounted'])
    expect(mounting.summary()).toMatchObject({
      files: 4,
      synced: 4,
      pending_uploads: 0,
      pending_deletions: 0,
    })
    mounting.mount()
    mounting.workshop.write('album/usb/deep/new.png', png(4, 4).bytes)
    await mounting.pass()
    expect(mounting.doubts()).toEqual([])
    expect(mounting.summary()).toMatchObject({ files: 5, synced: 5, pending_deletions: 0 })
    expect(mounting.deleted()).toEqual([])
  })

  it('takes no image with it where its folder goes too, alone or with the one above', async () => {
    for (const top of ['album/usb', 'album']) {
      const mounting = await mounted()
      renameSync(mounting.in(top), `${mounting.workshop.pictures}-away`)
      mounting.mounts = []
      mounting.workshop.write('other.png', png(7, 7).bytes)
      for (const _ of [1, 2]) await mounting.pass()
      expect(mounting.toTrust()).toBe(mounting.in(top))
      expect(mounting.summary()).toMatchObject({ files: 5, synced: 5, pending_deletions: 0 })
      renameSync(`${mounting.workshop.pictures}-away`, mounting.in(top))
      // The folder above is back, its disk is not yet.
      await mounting.pass()
      expect(mounting.toTrust()).toBe(mounting.in('album/usb'))
      mounting.mounts = [mounting.in('album/usb')]
      await mounting.pass()
      expect(mounting.doubts()).toEqual([])
      expect(mounting.deleted()).toEqual([])
    }
  })

  it('and goes in the middle of a scan takes no image with it', async () => {
    const mounting = await mounted()
    mounting.workshop.write('album/usb/new.png', png(6, 6).bytes)
    const lookAt = () => async (batch: FolderToLookAt[]) =>
      batch.map(folder => {
        const result = lookAtFolder(mounting.disk, mounting.workshop.pictures, folder)
        // What lies below it is looked at when the disk has gone, and there is a folder of that name.
        if (folder.path === 'album/usb' && mounting.mounts.length > 0) {
          mounting.unmount()
          mkdirSync(mounting.in('album/usb/deep/er'), { recursive: true })
        }
        return result
      })
    await mounting.pass({ lookAt })
    expect(mounting.doubts()).not.toEqual([])
    expect(mounting.workshop.synced.escrow.ofMirror(1)).toEqual([])
    mounting.mount()
    await mounting.pass()
    expect(mounting.summary()).toMatchObject({ files: 5, synced: 5, pending_deletions: 0 })
  })

  it('and goes between two deletions stops the second', async () => {
    const mounting = await mounted()
    mounting.workshop.remove('album/usb/red.png')
    mounting.workshop.remove('album/plain.png')
    const host = hostWith(mounting.workshop.host, {
      async deleteImage(id, signal) {
        const done = await mounting.workshop.host.deleteImage(id, signal)
        mounting.unmount()
        return done
      },
    })
    await mounting.pass({ host })
    expect(mounting.deleted()).toHaveLength(1)
    await mounting.pass()
    expect(mounting.deleted()).toHaveLength(1)
    mounting.mount()
    await mounting.pass()
    expect(mounting.deleted()).toHaveLength(2)
  })

  it('is believed gone when a person says so, whether its folder is still there or not', async () => {
    for (const gone of [false, true]) {
      const mounting = await mounted()
      mounting.unmount()
      if (gone) rmdirSync(mounting.in('album/usb'))
      await mounting.pass()
      await mounting.trust('album/usb')
      await mounting.pass()
      expect(mounting.doubts()).toEqual([])
      expect(mounting.deleted().sort()).toEqual(['album/usb/deep/er/green.png', 'album/usb/red.png'])
      expect(mounting.summary()).toMatchObject({ files: 2, synced: 2, pending_deletions: 0 })
    }
  })

  it('that a person has given up is one again when it is mounted, and guarded as before', async () => {
    const mounting = await mounted()
    mounting.unmount()
    await mounting.pass()
    await mounting.trust('album/usb')
    await mounting.pass()
    mounting.mount()
    await mounting.pass()
    expect(mounting.summary()).toMatchObject({ files: 4, synced: 4 })
    mounting.unmount()
    await mounting.pass()
    expect(mounting.doubts()).not.toEqual([])
  })

  it('is looked for by itself when a scan has another scope', async () => {
    const mounting = await mounted()
    mounting.unmount()
    const { synced } = mounting.workshop
    const scope = (...paths: string[]) => scan(mounting.workshop, { disk: mounting.disk, scope: paths })
    await scope('album/usb/deep/er')
    expect(mounting.doubts()).not.toEqual([])
    // What happened on the disk while it was away gave no event here.
    mkdirSync(`${mounting.workshop.pictures}-usb/deep/er/new`)
    renameSync(
      `${mounting.workshop.pictures}-usb/deep/er/green.png`,
      `${mounting.workshop.pictures}-usb/deep/er/new/green.png`,
    )
    mounting.mount()
    await scope()
    expect(mounting.doubts()).toEqual([])
    expect(mounting.summary()).toMatchObject({ files: 4, pending_deletions: 1 })
    expect(synced.folders.at(1, 'album/usb/deep/er/new')).toMatchObject({ mount: 0, unknown: null })
  })
})
