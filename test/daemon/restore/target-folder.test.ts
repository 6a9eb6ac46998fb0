import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { RestoreRequest } from '../../../src/daemon/restore/from-records.ts'
import { begunMoment, openTarget, type TargetRequest } from '../../../src/daemon/restore/target-folder.ts'
import { NOBODY } from '../../nobody.ts'
import { MTIME, recordPictures, treeOf } from '../recorded-pictures.ts'
import { restore, restoreThen } from './restored.ts'

describe('a restore', () => {
  it('writes nothing outside of its folder, whatever the records say', async () => {
    const outside = ['../out.png', 'a/../../out.png', '/etc/out.png', '..', '.albumd-restore/x.png']
    const unsafe = [...outside, 'a//b.png', './c.png', 'nul\0.png']
    const recorded = await recordPictures(unsafe.map(path => ({ path, bytes: path })))
    const { missing, back } = await restore(recorded)
    expect(new Set(Object.values(missing))).toEqual(new Set(['UNSAFE_NAME']))
    expect(Object.keys(missing)).toHaveLength(8)
    expect(recorded.asked).toEqual([])
    expect(Object.keys(treeOf(back))).toEqual([])
    expect(readdirSync(recorded.home).sort()).toEqual(['albumd.yaml', 'back', 'pictures', 'state'])
  })

  it('follows no link, and leaves files that are in the way', async () => {
    const recorded = await recordPictures([
      { path: 'link/a.png', bytes: 'a' },
      { path: 'b.png', bytes: 'b' },
      { path: 'c.png', bytes: 'c' },
      { path: 'd.png', bytes: 'd' },
      { path: 'slow.png', bytes: 'slow', answer: response => void response.writeHead(404).end() },
    ])
    await restore(recorded)
    const back = join(recorded.home, 'back')
    const elsewhere = join(recorded.home, 'elsewhere')
    mkdirSync(elsewhere)
    rmSync(join(back, 'link'), { recursive: true })
    symlinkSync(elsewhere, join(back, 'link'))
    rmSync(join(back, 'b.png'))
    symlinkSync(join(elsewhere, 'b.png'), join(back, 'b.png'))
    writeFileSync(join(back, 'c.png'), 'X')
    utimesSync(join(back, 'd.png'), 5, 5)
    const { missing, report } = await restore(recorded)
    expect(missing).toMatchObject({
      'link/a.png': 'IN_THE_WAY',
      'b.png': 'IN_THE_WAY',
      'c.png': 'IN_THE_WAY',
      'slow.png': 'NOT_FOUND',
    })
    expect(report).toMatchObject({ there: 1, restored: 0 })
    expect(readdirSync(elsewhere)).toEqual([])
    expect(treeOf(back)).toMatchObject({ 'c.png': ['X', expect.any(Number)], 'd.png': ['d', MTIME] })
  })

  it('opens what it makes to nobody else than the mirror does, and gives it its owner', async () => {
    const recorded = await recordPictures([
      { path: 'a/b/new.png', bytes: 'new' },
      { path: 'a/changed.png', bytes: 'recorded' },
    ])
    const mirror = recorded.config.mirrors[0]!.folder
    const changed = join(mirror, 'a/changed.png')
    mkdirSync(join(mirror, 'a'))
    writeFileSync(changed, 'changed')
    const isRoot = process.getuid?.() === 0
    for (const [path, mode] of [
      [mirror, 0o755],
      [join(mirror, 'a'), 0o750],
      [changed, 0o600],
    ] as const) {
      chmodSync(path, mode)
      if (isRoot) chownSync(path, NOBODY, NOBODY)
    }
    const opened = (folder: string) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .sort()
        .map(path => {
          const { mode, uid } = statSync(join(folder, path))
          if (isRoot) expect(uid).toBe(NOBODY)
          return `${path} ${(mode & 0o777).toString(8)}`
        })
    await restoreThen(recorded)
    expect(opened(join(mirror, 'a'))).toEqual(['b 750', 'b/new.png 640', 'changed.png 600'])
    expect(opened(join(mirror, '.albumd-replaced'))).toEqual(
      expect.arrayContaining([expect.stringMatching(/changed.png 600$/)]),
    )

    chmodSync(mirror, 0o700)
    const { back } = await restore(recorded, { folder: join(recorded.home, 'x/back') })
    expect(statSync(back)).toMatchObject({ mode: 0o40700, uid: statSync(mirror).uid })
    expect(opened(back)).toEqual(['a 700', 'a/b 700', 'a/b/new.png 600', 'a/changed.png 600'])
  })

  it('advises --at in a mirror only where the command takes it', async () => {
    const { config } = await recordPictures([{ path: 'a.png', bytes: 'a' }])
    const [folder] = config.mirrors.map(mirror => mirror.folder)
    const ofRecords = { folder: folder!, mirrors: [folder!] }
    const advice = (request: TargetRequest) =>
      openTarget(config, request).then(
        () => null,
        (error: Error) => error.message.match(/Restore into .*$/)?.[0],
      )
    expect(await advice(ofRecords)).toBe('Restore into another folder, or say --at')
    expect(await advice({ ...ofRecords, deleted: true })).toBe('Restore into another folder')
    expect(await advice({ folder: folder!, mirrors: 'all that the host lists' })).toBe(
      'Restore into another folder',
    )
  })

  it('tells the moment with which it was begun in a mirror, before it goes on', async () => {
    const { config } = await recordPictures([{ path: 'a.png', bytes: 'a' }])
    const [mirror] = config.mirrors.map(({ folder }) => folder)
    writeFileSync(join(mirror!, 'a.png'), 'a')
    const request = { folder: mirror!, mirrors: [mirror!], at: '2m' }
    expect(await begunMoment(config, request)).toBe(null)
    const target = await openTarget(config, { ...request, place: { mirror: mirror!, was: 'folder' } })
    expect(await target.moment(5)).toBe(5)
    await target.close(false)
    expect(await begunMoment(config, request)).toBe(5)
    expect(await begunMoment(config, { ...request, at: '3m' })).toBe(null)
  })

  it('names the folder of a picture that is named in its place, whether it is on the disk or not', async () => {
    const recorded = await recordPictures([
      { path: 'a/there.png', bytes: 'a' },
      { path: 'a/gone.png', bytes: 'b', state: 'gone' },
    ])
    const mirror = recorded.config.mirrors[0]!.folder
    mkdirSync(join(mirror, 'a'))
    writeFileSync(join(mirror, 'a/there.png'), 'a')
    writeFileSync(join(mirror, 'a/notes.txt'), 'a')
    for (const path of ['a/there.png', 'a/gone.png', 'a/notes.txt', 'a/never.png']) {
      const what = {
        'a/notes.txt': 'is not a folder. Name the folder that holds it',
        'a/never.png': 'is not there, lies in the mirror',
      }[path]
      await expect(restoreThen(recorded, join(mirror, path))).rejects.toThrow(
        `${join(mirror, path)} ${what ?? 'is a picture. Name the folder that holds it'}`,
      )
    }
    expect(readdirSync(join(mirror, 'a')).sort()).toEqual(['notes.txt', 'there.png'])
  })

  it("is refused in a mirror, in state_dir, in a folder with files, and in another restore's folder", async () => {
    const recorded = await recordPictures(
      [
        { path: 'a.png', bytes: 'a' },
        { path: 'b.png', bytes: 'b', mirror: 1 },
      ],
      { mirrors: ['one/photos', 'two/Photos'] },
    )
    const { home, config } = recorded
    const to = (folder: string, more: Partial<RestoreRequest> = {}) =>
      restore(recorded, { folder: join(home, folder), ...more })
    symlinkSync(join(home, 'one/photos'), join(home, 'link'))
    for (const folder of ['one/photos', 'one/photos/below', 'one', 'link'])
      await expect(to(folder)).rejects.toThrow('would look like deletions')
    await expect(to('state/x')).rejects.toThrow('state_dir')
    await expect(to('albumd.yaml')).rejects.toThrow('is not a folder')
    // Two mirrors whose folders have the same name get their whole paths.
    const both = await to('both')
    expect(Object.keys(treeOf(both.back)).sort()).toEqual(
      [`${home}/one/photos/a.png`, `${home}/two/Photos/b.png`].map(path => path.slice(1)).sort(),
    )
    const alone = await to('alone', { mirrors: [config.mirrors[1]!.folder] })
    expect(treeOf(alone.back)).toEqual({ 'b.png': ['b', MTIME] })

    recorded.answers.set('b.png', response => void response.writeHead(404).end())
    await to('part', { mirrors: [config.mirrors[1]!.folder] })
    // A restore that was killed has left its mark, and nothing else.
    mkdirSync(join(home, 'part/.albumd-restore'), { recursive: true })
    writeFileSync(join(home, 'part/.albumd-restore/restore.json'), '{}')
    expect((await to('part')).report).toMatchObject({ restored: 1, missing: 1 })
    await expect(to('part', { mirrors: [config.mirrors[1]!.folder] })).rejects.toThrow(
      'a restore of other mirrors or of another time in it',
    )
    const empty = await recordPictures([])
    await expect(restore(empty)).rejects.toThrow('Nothing is recorded of')
    expect(existsSync(join(empty.home, 'back'))).toBe(false)
  })

  it.runIf(process.platform === 'linux')('locks its folder', async () => {
    const recorded = await recordPictures([{ path: 'a.png', bytes: 'a' }])
    const asked = Promise.withResolvers<void>()
    const go = Promise.withResolvers<void>()
    recorded.answers.set('a.png', (response, bytes) => {
      asked.resolve()
      void go.promise.then(() => response.end(bytes))
    })
    const first = restore(recorded)
    await asked.promise
    await expect(restore(recorded)).rejects.toMatchObject({
      code: 'LOCKED',
      // Whoever has the folder may also mirror it, with a config of its own.
      message: expect.stringMatching(
        /Where it restores, wait .* where it mirrors .* name its config with -c$/,
      ),
    })
    go.resolve()
    expect((await first).report).toMatchObject({ restored: 1 })
  })
})
