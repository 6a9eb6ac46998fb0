import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { realDisk } from '../../../src/local/disk.ts'
import { type FolderResult, type FolderToLookAt, lookAtFolder } from '../../../src/local/look.ts'
import { systemClock } from '../../../src/protocol/clock.ts'
import type { LookAtFolders } from '../../../src/sync/context.ts'
import type { MirrorPolicy } from '../../../src/sync/pass-request.ts'
import { VanishedRules } from '../../../src/sync/scan/doubts.ts'
import { MirrorScan } from '../../../src/sync/scan/scan.ts'
import { UnderWay } from '../../../src/sync/under-way.ts'
import { emptyState } from '../../synced/open-tx.ts'
import { tempFolder } from '../../temp-folder.ts'

function open() {
  const root = tempFolder()
  const synced = emptyState()
  const mirror = synced.commitNow(tx => tx.mirrors.add(root, 'Photos')).id
  const looked: string[] = []
  const lookOnce = (folder: FolderToLookAt): FolderResult => {
    looked.push(folder.path)
    return lookAtFolder(realDisk, root, folder)
  }
  const look: LookAtFolders = async batch => batch.map(lookOnce)
  return {
    root,
    synced,
    looked,
    lookOnce,
    write(...paths: string[]) {
      for (const path of paths) {
        mkdirSync(dirname(join(root, path)), { recursive: true })
        writeFileSync(join(root, path), path)
      }
    },
    async scan(
      changes: { look?: LookAtFolders; scope?: string[]; signal?: AbortSignal; ignore?: string[] } = {},
    ) {
      looked.length = 0
      const context = {
        synced,
        disk: realDisk,
        clock: systemClock,
        vanishedRules: new VanishedRules({ monotonic: () => 0 }),
        graceMs: 0,
        running: () => 0,
        emit() {},
        underWay: new UnderWay(() => {}),
      }
      const policy: MirrorPolicy = {
        folder: root,
        album: 'Photos',
        deletions: 'propagate',
        ignore: changes.ignore ?? [],
      }
      const trusted = {
        trusted: true,
        identity: realDisk.lstat(root),
        empty: false,
        accepted: false,
      } as const
      const signal = changes.signal ?? new AbortController().signal
      const scan = new MirrorScan(
        context,
        synced.mirrors.byId(mirror)!,
        policy,
        trusted,
        changes.look ?? look,
      )
      await scan.look(changes.scope ?? 'everything', signal)
      return scan.finish(new Set(), signal)
    },
    /** Path → state of every record. */
    files() {
      const states: Record<string, string> = {}
      for (const { id, path } of synced.folders.ofMirror(mirror))
        for (const { name, state } of synced.files.ofFolder(id))
          states[path ? `${path}/${name}` : name] = state
      return states
    },
  }
}

describe('a scan', () => {
  it('finds what is below, and the next one finds nothing new', async () => {
    const { write, scan, files, looked } = open()
    write('a.png', 'b/c.png', 'b/d/e/f.png')
    expect(await scan()).toEqual({ folders: 4, complete: true, rootProblem: null })
    expect(files()).toEqual({ 'a.png': 'pending', 'b/c.png': 'pending', 'b/d/e/f.png': 'pending' })
    await scan()
    expect(looked.sort()).toEqual(['', 'b', 'b/d', 'b/d/e'])
  })

  it('of one folder looks at it and at what is new below', async () => {
    const { write, scan, looked } = open()
    write('a.png', 'b/c.png', 'd/e.png')
    await scan()
    write('b/new/deep/f.png', 'd/g.png')
    await scan({ scope: ['b'] })
    expect(looked).toEqual(['b', 'b/new', 'b/new/deep'])
  })

  it('forgets files that were never uploaded, with their folders, when they are gone', async () => {
    const { root, write, scan, files, synced } = open()
    write('a.png', 'b/c/d.png')
    await scan()
    rmSync(join(root, 'b'), { recursive: true })
    await scan()
    expect(files()).toEqual({ 'a.png': 'pending' })
    expect(synced.folders.ofMirror(1)).toHaveLength(1)
  })

  it('asks the parent about a folder that is not there, and believes it', async () => {
    const { root, write, scan, files } = open()
    write('a.png', 'b/c.png')
    await scan()
    rmSync(join(root, 'b'), { recursive: true })
    expect(await scan({ scope: ['b'] })).toMatchObject({ complete: true })
    expect(files()).toEqual({ 'a.png': 'pending' })
  })

  it('does not take a folder for gone that its parent lists and that can not be found', async () => {
    const { write, scan, files, lookOnce, synced } = open()
    write('a.png', 'b/c.png')
    await scan()
    const look: LookAtFolders = async batch =>
      batch.map(folder =>
        folder.path === 'b'
          ? { path: 'b', kind: 'unknown', code: 'ENOENT', message: 'no' }
          : lookOnce(folder),
      )
    expect(await scan({ look })).toMatchObject({ complete: false, rootProblem: null })
    expect(files()).toEqual({ 'a.png': 'pending', 'b/c.png': 'pending' })
    expect(synced.folders.unknown(1)).toMatchObject([{ path: 'b' }])
    expect(await scan()).toMatchObject({ complete: true })
    expect(synced.folders.unknown(1)).toEqual([])
  })

  it('leaves everything as it was where the root can not be read', async () => {
    const { write, scan, files } = open()
    write('a.png')
    await scan()
    const look: LookAtFolders = async batch =>
      batch.map(({ path }) => ({ path, kind: 'unknown', code: 'EIO', message: 'i/o error' }))
    expect(await scan({ look })).toMatchObject({
      complete: false,
      rootProblem: expect.stringMatching(/root_lost_in_scan.*EIO/),
    })
    expect(files()).toEqual({ 'a.png': 'pending' })
  })

  it('that is ended early is not complete, and takes nothing for gone that it did not see', async () => {
    const { root, write, scan, files } = open()
    write('a.png', 'b/c.png')
    await scan()
    rmSync(join(root, 'b'), { recursive: true })
    const ended = new AbortController()
    ended.abort()
    expect(await scan({ signal: ended.signal })).toMatchObject({ complete: false })
    expect(files()).toEqual({ 'a.png': 'pending', 'b/c.png': 'pending' })
  })

  it('looks again at known folders below an ignore file that changed', async () => {
    const { root, write, scan, files } = open()
    write('a.png', 'b/c.png', 'b/d/e.png')
    await scan()
    writeFileSync(join(root, '.albumdignore'), 'e.png\n')
    await scan()
    expect(files()).toEqual({ 'a.png': 'pending', 'b/c.png': 'pending', 'b/d/e.png': 'hidden' })
    rmSync(join(root, '.albumdignore'))
    expect(await scan()).toMatchObject({ complete: false })
    expect(files()['b/d/e.png']).toBe('hidden')
    expect(await scan()).toMatchObject({ complete: true })
    expect(files()['b/d/e.png']).toBe('pending')
  })

  it('obeys the rules of the config in every folder, and a change of them', async () => {
    const { write, scan, files } = open()
    write('a.png', 'b/a.png', 'b/c.png')
    await scan({ ignore: ['a.png'] })
    expect(files()).toEqual({ 'b/c.png': 'pending' })
    await scan({ ignore: [] })
    expect(files()).toEqual({ 'a.png': 'pending', 'b/a.png': 'pending', 'b/c.png': 'pending' })
  })

  it('does not look through a folder that became a link, whatever lies behind it', async () => {
    const { root, write, scan, files } = open()
    write('a.png', 'b/c/d.png')
    await scan()
    renameSync(join(root, 'b'), `${root}-b`)
    onTestFinished(() => rmSync(`${root}-b`, { recursive: true }))
    symlinkSync(`${root}-b`, join(root, 'b'))
    writeFileSync(join(root, 'b/c/new.png'), 'x')
    await scan()
    expect(Object.keys(files())).toEqual(['a.png'])
  })
})
