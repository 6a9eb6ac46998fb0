import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Mount } from '../../../src/local/mount-table.ts'
import { said } from '../../../src/words/reasons.ts'
import { tempFolder } from '../../temp-folder.ts'
import { type WatchedMirror, watchMirror } from './watched-mirror.ts'

const MINUTE = 60_000

function watch(
  folders: string[],
  options?: Parameters<typeof watchMirror>[2],
  root = join(tempFolder(), 'mirror'),
): WatchedMirror {
  const watched = watchMirror(root, folders, options)
  onTestFinished(watched.close)
  return watched
}

describe('a watched mirror', () => {
  it('is noticed when its root comes, before any scan, and when a recorded folder does', async () => {
    const { root, state, told } = watch(['', 'a'], { missing: true })
    await expect.poll(() => state().folders).toBe(2)
    mkdirSync(root)
    await told('')
    mkdirSync(join(root, 'a'))
    await told('a')
    writeFileSync(join(root, 'a/x.png'), '')
    await told('a')
  })

  it('is noticed when its root comes that no scan has recorded', async () => {
    const { root, state, told } = watch([], { missing: true })
    await expect.poll(() => state().folders).toBe(1)
    for (const change of [() => mkdirSync(root), () => writeFileSync(join(root, 'x.png'), '')]) {
      change()
      await told('')
    }
  })

  it('makes a folder stale when its watch begins, and at every change in it', async () => {
    const { root, watcher, told } = watch(['', 'a'])
    watcher.follow()
    await told('a')
    writeFileSync(join(root, 'a/x.png'), '')
    await told('a')
  })

  it('watches folders that a later scan finds, and ends the watches of folders that it no longer finds', async () => {
    const { root, synced, mirror, watcher, told, state } = watch(['', 'a'])
    watcher.follow()
    await told('a')
    expect(state()).toMatchObject({ folders: 2, lost: 0, loss: null, polled: [] })
    mkdirSync(join(root, 'b'))
    synced.commitNow(tx => tx.folders.gone(synced.folders.at(mirror, 'a')!.id))
    synced.commitNow(tx => tx.folders.add(mirror, 'b'))
    watcher.follow()
    await told('b')
    synced.commitNow(tx => tx.folders.add(mirror, 'a'))
    watcher.follow()
    // Only a new watch makes a folder stale without a change.
    await told('a')
    await expect.poll(() => state().folders).toBe(3)
  })

  it('watches no folder in doubt', async () => {
    const { synced, mirror, watcher, told, state } = watch(['', 'a', 'b'])
    watcher.follow()
    await told('a', 'b')
    const { id } = synced.folders.at(mirror, 'b')!
    synced.commitNow(tx => tx.folders.setUnknown({ id, unknown: said('in doubt') }))
    watcher.follow()
    await expect.poll(() => state().folders).toBe(2)
  })

  it('says once why a folder can not be watched, and polls it', async () => {
    const tooLong = 'x'.repeat(300)
    const { watcher, clock, said, told, heard, state } = watch(['', 'a', tooLong])
    watcher.follow()
    await told('a', tooLong)
    await expect.poll(state).toMatchObject({ folders: 2, lost: 1, loss: { code: 'WATCH_ERROR' } })
    for (let n = 0; n < 2; n++) {
      heard()
      await clock.pass(MINUTE)
      await told(tooLong)
      // The scan has ended.
      watcher.follow()
    }
    expect(said).toHaveLength(1)
  })

  it('is scanned whole after the queue of events overflowed, and the overflow is recorded', async () => {
    const { root, watcher, clock, told, state, said } = watch(['', 'a'])
    for (const n of [0, 1]) writeFileSync(join(root, `a/${n}.jpg`), '')
    watcher.follow()
    await told('a')
    expect(state().overflowedAt).toBeNull()
    await clock.pass(1000)
    // The events are made in one turn of Node's loop, so none is read before the queue overflows. The kernel merges equal
    // events that follow one another, so they differ.
    for (let n = 0; n < 17_000; n++) chmodSync(join(root, `a/${n % 2}.jpg`), 0o644)
    await told('everything')
    expect(state()).toMatchObject({ folders: 2, lost: 0, overflowedAt: 1000 })
    expect(said).toEqual([expect.stringContaining('max_queued_events')])
  })

  it('opens no more watches after it was closed', async () => {
    // The names are too long for the disk, so no folder can be watched, and a line says so for each.
    const many = Array.from({ length: 2000 }, (_, n) => `${n}`.repeat(300))
    const { watcher, said } = watch(many)
    watcher.follow()
    // One turn of Node's loop at a time, because a fast machine would try all folders before the next check.
    while (said.length === 0) await turn()
    await watcher.close()
    expect(said.length).toBeLessThan(many.length)
  })
})

describe('a polled mirror', () => {
  it('is scanned again the set time after each scan, and has no watches', async () => {
    const { root, watcher, clock, told, heard, state } = watch(['', 'a'], { pollMs: 30_000 })
    watcher.follow()
    await clock.pass(29_999)
    writeFileSync(join(root, 'a/x.png'), '')
    expect(heard()).toEqual([])
    await clock.pass(1)
    await told('everything')
    expect(state()).toMatchObject({ folders: 0, lost: 0, polled: [root] })
    // The scan takes this long.
    await clock.pass(40_000)
    expect(heard()).toEqual([])
    watcher.follow()
    await clock.pass(30_000)
    await told('everything')
  })

  it('is polled again while its root is in doubt, although no scan ends then', async () => {
    const { clock, told } = watch([''], { pollMs: 1000 })
    await clock.pass(1000)
    await told('everything')
    await clock.pass(2 * MINUTE)
    await told('everything')
  })
})

it.each([
  ['on the root', ''],
  ['above it', '..'],
  ['below it', 'a'],
])('a mount %s is noticed where a link leads to the root', async (_, below) => {
  const home = tempFolder()
  mkdirSync(join(home, 'disk/mirror/a'), { recursive: true })
  symlinkSync(join(home, 'disk'), join(home, 'link'))
  let mounts: Mount[] = [{ id: '1', path: '/', type: 'ext4' }]
  const mirror = watch(['', 'a'], { mounts: () => mounts }, join(home, 'link/mirror'))
  await mirror.told('a')
  mounts = [...mounts, { id: '2', path: join(home, 'disk/mirror', below), type: 'ext4' }]
  await mirror.clock.pass(20_000)
  await mirror.told(below === 'a' ? 'a' : 'everything')
})

describe('file systems of other machines', () => {
  const remoteAt = (path: string): Mount => ({ id: '7', path, type: 'nfs4' })

  it('are polled every minute where the whole mirror is on one, and a line says so', async () => {
    const root = tempFolder()
    const mirror = watch(['', 'a'], { mounts: () => [remoteAt(root)] }, root)
    mirror.watcher.follow()
    await mirror.told('a')
    expect(mirror.said.join()).toMatch(/nfs4.*watch\.poll/)
    await mirror.clock.pass(MINUTE)
    await mirror.told('everything')
  })

  it('are polled alone where they are mounted below the root', async () => {
    const root = tempFolder()
    const mounts = [{ id: '1', path: '/', type: 'ext4' }, remoteAt(join(root, 'a'))]
    const mirror = watch(['', 'a', 'a/b', 'ab'], { mounts: () => mounts }, root)
    mirror.watcher.follow()
    await mirror.told('a', 'a/b', 'ab')
    mirror.heard()
    await mirror.clock.pass(MINUTE)
    expect(mirror.heard().sort()).toEqual(['a', 'a/b'])
  })

  it('are scanned less often where a scan takes long', async () => {
    const root = tempFolder()
    const mirror = watch([''], { mounts: () => [remoteAt(root)] }, root)
    mirror.watcher.follow()
    await mirror.clock.pass(MINUTE)
    await mirror.told('everything')
    await mirror.clock.pass(30_000)
    mirror.watcher.follow()
    await mirror.clock.pass(4 * MINUTE)
    expect(mirror.heard()).toEqual([])
    await mirror.clock.pass(MINUTE)
    await mirror.told('everything')
  })
})

/** A user namespace allows other limits and mounts. Some machines do not allow a user namespace. */
const UNSHARE = ['--user', '--map-root-user', '--mount']
const canUnshare = spawnSync('unshare', [...UNSHARE, 'true']).status === 0

function act(name: string): unknown {
  const script = join(import.meta.dirname, './in-a-namespace.ts')
  const args = [...UNSHARE, process.execPath, script, name, tempFolder()]
  return JSON.parse(execFileSync('unshare', args, { encoding: 'utf8', timeout: 60_000 }))
}

describe.skipIf(!canUnshare && !process.env.CI)('in a namespace of its own', () => {
  it('folders beyond the limit of watches are polled, and watched when there is room', () => {
    const seen = act('limit')
    expect(seen).toMatchObject({
      limited: {
        lost: 20,
        loss: { code: 'WATCH_LIMIT', message: expect.stringContaining('max_user_watches') },
      },
      mended: { folders: 41, lost: 0, loss: null },
    })
    expect((seen as { said: string[] }).said).toEqual([
      expect.stringContaining('max_user_watches'),
      expect.stringContaining('watched again'),
    ])
  })

  it.each(['mount', 'mount-below'])(
    'folders that a %s hides, and then shows again, are scanned and watched',
    name => {
      expect(act(name)).toEqual({ calm: [] })
    },
  )
})
