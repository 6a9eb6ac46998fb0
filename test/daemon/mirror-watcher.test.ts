import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type MirrorWatcher, openMirrorWatcher } from '../../src/daemon/mirror-watcher.ts'
import { StaleFolders } from '../../src/daemon/stale-folders.ts'
import { openDatabase } from '../../src/synced/database.ts'
import { openSynced, type Synced } from '../../src/synced/synced.ts'

interface Watched {
  root: string
  synced: Synced
  mirror: number
  watcher: MirrorWatcher
  said: string[]
  /** Waits until these were told to be stale, since it was asked the last time. */
  told(...folders: string[]): Promise<void>
}

/** A mirror with folders that a scan has found. Real files, real watches. */
function watch(...folders: string[]): Watched {
  const root = mkdtempSync(join(realpathSync(tmpdir()), 'albumd-watch-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const synced = openSynced(openDatabase(':memory:'))
  const { id: mirror } = synced.mirrors.add(root, 'Photos')
  for (const folder of folders) synced.folders.add(mirror, folder)
  const stale = new StaleFolders()
  const said: string[] = []
  const watcher = openMirrorWatcher(root, stale, line => said.push(line))
  onTestFinished(async () => {
    await watcher.close()
    synced.close()
  })
  const heard = new Set<string>()
  const listen = () => {
    const scope = stale.take().get(root) ?? []
    for (const folder of scope === 'everything' ? ['everything'] : scope) heard.add(folder)
    return [...heard]
  }
  return {
    root,
    synced,
    mirror,
    watcher,
    said,
    async told(...expected) {
      heard.clear()
      await expect.poll(listen, { timeout: 20_000 }).toEqual(expect.arrayContaining(expected))
    },
  }
}

it('a folder is stale once its watch stands, and whenever something happens there', async () => {
  const { root, synced, watcher, told } = watch('', 'a')
  mkdirSync(join(root, 'a'))
  watcher.follow(synced)
  await told('', 'a')
  writeFileSync(join(root, 'a/x.png'), '')
  await told('a')
})

it('what a later scan finds is watched too, and what it no longer finds is not', async () => {
  const { root, synced, mirror, watcher, told } = watch('', 'a')
  for (const name of ['a', 'b']) mkdirSync(join(root, name))
  watcher.follow(synced)
  await told('', 'a')
  synced.folders.gone(synced.folders.at(mirror, 'a')!.id)
  synced.folders.add(mirror, 'b')
  watcher.follow(synced)
  await told('b')
  synced.folders.add(mirror, 'a')
  watcher.follow(synced)
  // Only a watch that is opened anew says so.
  await told('a')
})

it('a folder that can not be watched is told, asks for a look at everything, and is tried again on request alone', async () => {
  const tooLong = 'x'.repeat(300)
  const { synced, watcher, said, told } = watch('', tooLong)
  watcher.follow(synced)
  await told('everything')
  expect(said).toHaveLength(1)
  watcher.follow(synced)
  watcher.tryLostAgain()
  watcher.follow(synced)
  await told('everything')
  watcher.follow(synced)
  await watcher.close()
  expect(said).toHaveLength(2)
})

it('its end leaves what is yet to be opened', async () => {
  // Each that is tried is a loss.
  const many = Array.from({ length: 200 }, (_, n) => `${n}`.repeat(300))
  const { synced, watcher, said } = watch(...many)
  watcher.follow(synced)
  await watcher.close()
  expect(said.length).toBeLessThan(many.length)
})
