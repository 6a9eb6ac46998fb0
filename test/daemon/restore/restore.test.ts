import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { RestoreEvent } from '../../../src/daemon/restore/restore.ts'
import { stateFiles } from '../../../src/daemon/state/claim.ts'
import { realDisk } from '../../../src/local/disk.ts'
import { fileAt } from '../../../src/sync/tree-path.ts'
import { openDatabase } from '../../../src/synced/database.ts'
import { openSynced } from '../../../src/synced/synced.ts'
import { asNobody } from '../../nobody.ts'
import { deadOrigin } from '../../remote/serve.ts'
import { MTIME, type Recorded, recordPictures, treeOf } from '../recorded-pictures.ts'
import { restore, restoreThen } from './restored.ts'

/** Records the files as a scan would that has found the recorded pictures. */
function recordLooks({ config }: Recorded, paths: readonly string[]): void {
  const db = openDatabase(stateFiles(config.state_dir).database)
  const synced = openSynced(db)
  for (const path of paths) {
    const { mtime, ctime, ino } = realDisk.lstat(join(config.mirrors[0]!.folder, path))
    synced.commitNow(tx => tx.files.put({ ...fileAt(synced, 1, path)!, mtime, ctime, ino }))
  }
  db.close()
}

describe('a restore', () => {
  it('writes folders, equal names and unusual names with their times, and removes its own files', async () => {
    const odd = 'Früh "am" \n Morgen ☀.png'
    const recorded = await recordPictures([
      { path: 'a.png', bytes: 'top' },
      { path: 'x/a.png', bytes: 'x' },
      { path: 'x/y/z/a.png', bytes: 'deep', mtime: 1 },
      { path: `x y/${odd}`, bytes: 'odd', mtime: -86_400_000_001 },
      { path: 'empty.png', bytes: '' },
    ])
    const { report, back } = await restore(recorded)
    expect(report).toMatchObject({ restored: 5, there: 0, missing: 0, stopped: null, interrupted: false })
    expect(treeOf(back)).toEqual({
      'a.png': ['top', MTIME],
      'x/a.png': ['x', MTIME],
      'x/y/z/a.png': ['deep', 1],
      [`x y/${odd}`]: ['odd', -86_400_000_001],
      'empty.png': ['', MTIME],
    })
    await expect(restore(recorded)).rejects.toThrow('is not empty')
  })

  it('writes the version that the host has and says so, and deleted pictures only on request', async () => {
    const recorded = await recordPictures([
      { path: 'changed.png', bytes: 'before', state: 'pending', changed: true },
      { path: 'new.png', bytes: 'new', state: 'pending', image: null },
      { path: 'gone.png', bytes: 'gone', state: 'gone' },
      { path: 'kept.png', bytes: 'kept', state: 'kept' },
      { path: 'hidden.png', bytes: 'hidden', state: 'hidden' },
      { path: 'never-sent.png', bytes: 'x', state: 'hidden', image: null },
    ])
    const begun: number[] = []
    const count = (emitted: RestoreEvent) => {
      if (emitted.event === 'restore_started') begun.push(emitted.pictures)
    }
    const first = await restore(recorded, {}, undefined, count)
    expect(first.report).toMatchObject({ restored: 3, older: 1, gone: 1, missing: 1 })
    expect(first.missing).toEqual({ 'new.png': 'NOT_ON_HOST' })
    expect(treeOf(first.back)).toMatchObject({
      'changed.png': ['before', 1_700_000_000_000_000],
      'kept.png': ['kept', MTIME],
      'hidden.png': ['hidden', MTIME],
    })
    expect(Object.keys(treeOf(first.back))).not.toContain('gone.png')
    const second = await restore(recorded, { deleted: true }, undefined, count)
    expect(second.report).toMatchObject({ restored: 1, there: 3, gone: 0 })
    expect(begun).toEqual([4, 5])
    expect(treeOf(second.back)['gone.png']).toEqual(['gone', MTIME])
  })

  it('proves linked pictures by their bytes, and builds their addresses after those of uploaded pictures', async () => {
    const linked = { proof: 'none', cdnUrl: null } as const
    const recorded = await recordPictures([
      { path: 'alone.png', bytes: 'alone', state: 'linked', image: linked },
    ])
    const alone = await restore(recorded)
    expect(alone.missing).toEqual({ 'alone.png': 'NO_ADDRESS' })

    const other = await recordPictures([
      { path: 'linked.png', bytes: 'linked', state: 'linked', image: { proof: 'none' } },
      {
        path: 'another.png',
        bytes: 'recorded',
        state: 'linked',
        image: { proof: 'none' },
        answer: response => void response.end('anothers'),
      },
    ])
    const { report, missing, back } = await restore(other)
    expect(report).toMatchObject({ restored: 1, proved: 1, missing: 1 })
    expect(missing).toEqual({ 'another.png': 'OTHER_BYTES' })
    expect(treeOf(back)).toMatchObject({ 'linked.png': ['linked', MTIME] })
    expect(existsSync(join(back, 'another.png'))).toBe(false)
  })

  it('goes on after it was interrupted', async () => {
    const stop = new AbortController()
    const pictures = Array.from({ length: 60 }, (_, n) => ({
      path: `${n % 7}/${n}.png`,
      bytes: `bytes of ${n}`,
    }))
    const recorded = await recordPictures(pictures)
    let done = 0
    const first = await restore(recorded, {}, { stop: stop.signal, cut: stop.signal }, ({ event }) => {
      if (event === 'picture_restored' && ++done === 10) stop.abort()
    })
    expect(first.report.interrupted).toBe(true)
    expect(first.report.restored).toBeLessThan(60)
    expect(first.report.untried).toBe(60 - first.report.restored)
    const { report, back } = await restore(recorded)
    expect(report).toMatchObject({ there: first.report.restored, restored: 60 - first.report.restored })
    expect(treeOf(back)).toEqual(
      Object.fromEntries(pictures.map(({ path, bytes }) => [path, [bytes, MTIME]])),
    )
  })

  it('is not interrupted when it is stopped as the last picture comes', async () => {
    const stop = new AbortController()
    const recorded = await recordPictures([{ path: 'a.png', bytes: 'a' }])
    const { report } = await restore(recorded, {}, { stop: stop.signal, cut: stop.signal }, ({ event }) => {
      if (event === 'picture_restored') stop.abort()
    })
    expect(report).toMatchObject({ restored: 1, untried: 0, interrupted: false })
  })

  it('stops when the host does not answer, and fetches an image that replaced the recorded one meanwhile', async () => {
    const gone = await deadOrigin()
    const away = Array.from({ length: 40 }, (_, n) => ({
      path: `${n}.png`,
      bytes: 'x',
      image: { cdnUrl: `${gone}/${n}` },
    }))
    const recorded = await recordPictures([
      ...away,
      { path: 'y/gone.png', bytes: 'gone', state: 'gone' },
      { path: 'z/kept.png', bytes: 'kept', state: 'kept', image: null },
    ])
    const { report } = await restore(recorded)
    expect(report.stopped).toMatch(/connection refused.*the same command/i)
    expect(report.missing).toBeLessThan(40)
    // All pictures that were not tried are counted, besides the few that failed.
    expect(report).toMatchObject({ restored: 0, untried: 40 - report.missing, gone: 1 })

    const other = await recordPictures([
      { path: 'a.png', bytes: 'first' },
      { path: 'now/b.png', bytes: 'second' },
    ])
    other.answers.set('a.png', response => {
      const db = openDatabase(join(other.config.state_dir, 'albumd.db'))
      const { files, mirrors, folders, commitNow } = openSynced(db)
      const { id } = mirrors.of(other.config.mirrors[0]!.folder)!
      const now = files.at({ folder: folders.at(id, 'now')!.id, name: 'b.png' })!
      const before = files.at({ folder: folders.at(id, '')!.id, name: 'a.png' })!
      commitNow(tx => tx.files.put({ ...before, image: now.image, hash: now.hash }))
      db.close()
      response.writeHead(404).end()
    })
    const { back } = await restore(other)
    expect(treeOf(back)['a.png']).toEqual(['second', MTIME])
  })

  it('has not ended in a mirror of which the host had nothing for now', async () => {
    const refused = { answer: (response: ServerResponse) => void response.writeHead(403).end() }
    const recorded = await recordPictures([{ path: 'a.png', bytes: 'a', ...refused }])
    const { report, back } = await restoreThen(recorded)
    expect(report).toMatchObject({ restored: 0, missing: 1, mirror_waits: true })
    expect(readdirSync(back)).toEqual(['.albumd-restore'])
    recorded.answers.delete('a.png')
    expect((await restoreThen(recorded)).report).toMatchObject({ restored: 1, mirror_waits: false })
    expect(readdirSync(back)).toEqual(['a.png'])
  })

  it.each(['a picture is fetched', 'nothing is fetched'])(
    'goes through no link that comes into the place of a folder while %s',
    async when => {
      const isThere = when === 'nothing is fetched'
      const paths = ['a/a.png', 'b/b.png', 'b/deep/c.png']
      const one = { config: { uploads: { concurrency: 1 } } }
      const recorded = await recordPictures(
        paths.map(path => ({ path, bytes: path })),
        one,
      )
      const mirror = recorded.config.mirrors[0]!.folder
      const outside = join(recorded.home, 'outside')
      const swap = () => {
        renameSync(join(mirror, 'b'), outside)
        symlinkSync(outside, join(mirror, 'b'))
      }
      if (isThere) {
        expect((await restoreThen(recorded)).report).toMatchObject({ restored: 3 })
        recordLooks(recorded, paths)
        rmSync(join(mirror, 'a/a.png'))
      }
      recorded.answers.set(isThere ? 'a/a.png' : 'b/b.png', (response, bytes) => {
        swap()
        response.writeHead(200).end(bytes)
      })
      const { report, missing } = await restoreThen(recorded)
      expect(report).toMatchObject({ restored: 1, there: 0, missing: 2 })
      expect(missing).toEqual({ 'b/b.png': 'IN_THE_WAY', 'b/deep/c.png': 'IN_THE_WAY' })
      expect(Object.keys(treeOf(outside))).toEqual(isThere ? ['b.png', 'deep/c.png'] : [])
    },
  )

  it('counts the pictures of a folder that is closed, and goes on with the others', async () => {
    await asNobody(async () => {
      const recorded = await recordPictures(
        ['a.png', 'closed/b.png', 'closed/deep/c.png', 'd.png'].map(path => ({ path, bytes: path })),
      )
      const mirror = recorded.config.mirrors[0]!.folder
      mkdirSync(join(mirror, 'closed/deep'), { recursive: true })
      writeFileSync(join(mirror, 'closed/b.png'), 'closed/b.png')
      // A folder that may be written to but not read, a closed one, and one that only tells its names.
      for (const mode of [0o300, 0, 0o400]) {
        chmodSync(join(mirror, 'closed'), mode)
        const { report, missing } = await restoreThen(recorded)
        expect(report).toMatchObject({
          restored: mode === 0o300 ? 2 : 0,
          unread: 2,
          missing: 0,
          stopped: null,
        })
        expect(missing).toEqual({ 'closed/b.png': 'NOT_READ', 'closed/deep/c.png': 'NOT_READ' })
        expect(report.mirror_waits).toBe(true)
        expect(existsSync(join(mirror, '.albumd-restore'))).toBe(true)
      }
      chmodSync(join(mirror, 'closed'), 0o700)
      const { report } = await restoreThen(recorded)
      expect(report).toMatchObject({ restored: 1, there: 3, unread: 0, mirror_waits: false })
      expect(existsSync(join(mirror, '.albumd-restore'))).toBe(false)
      expect(readdirSync(join(mirror, 'closed')).sort()).toEqual(['b.png', 'deep'])
    })
  })
})
