import { readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { versionsAt } from '../../src/daemon/restore/from-moment.ts'
import { openPicture as openFile } from '../../src/local/picture-file.ts'
import type { Clock } from '../../src/protocol/clock.ts'
import { lost } from '../../src/records/images.ts'
import { restorableSince, versionsForgotten } from '../../src/records/versions.ts'
import { hostWith } from '../../src/remote/host.ts'
import type { EngineContext } from '../../src/sync/context.ts'
import { openDatabase } from '../../src/synced/database.ts'
import { STEPS } from '../../src/synced/schema.ts'
import { openSynced } from '../../src/synced/synced.ts'
import { sha256 } from '../e2e/stage/stage.ts'
import { png } from '../pictures.ts'
import { ALLOWANCE, failure, openWorkshop, type Workshop } from '../sync/workshop.ts'
import { tempFile } from '../temp-folder.ts'

const picture = (n: number) => png(2 + n, 3).bytes
const hashOf = (n: number) => sha256(picture(n))

/** A workshop whose clock stands still, but for `next`, which makes one pass a second later. No file is of a later time. */
async function story(...of: Parameters<typeof openWorkshop>) {
  const workshop = await openWorkshop(...of)
  let now = Date.now() + 3_600_000
  const clock: Clock = { ...workshop.clock, wall: () => now }
  const hold = { hold_above: 1, hold_min: 1000 }
  return {
    ...workshop,
    async next(changes: Parameters<Workshop['pass']>[0] = {}): Promise<number> {
      now += 1000
      await workshop.pass({ clock, hold, ...changes })
      return now
    },
  }
}

type Story = Awaited<ReturnType<typeof story>>

/** What was there at a time: path → hash. */
function at({ synced }: Story, moment: number): Record<string, string> {
  const mirror = synced.mirrors.all()[0]!
  const versions = [...versionsAt(synced, [mirror], '', moment)]
  return Object.fromEntries(versions.map(({ path, version }) => [path, version.hash.toString('hex')]))
}

const isThere = ({ synced }: Story, hash: string) => synced.images.byHash(Buffer.from(hash, 'hex')).length > 0

describe('the versions of the past', () => {
  it.each([
    ['while old images wait', 3_600_000, {}],
    ['when old images are deleted', 0, {}],
    ['of a backup', 0, { deletions: 'keep' as const }],
  ])('are those that the folder had at each time, %s', { timeout: 60_000 }, async (_, graceMs, policy) => {
    const told = await story(policy)
    const { write, remove, pictures } = told
    const disk = new Map<string, number>()
    const put = (path: string, n: number) => {
      write(path, picture(n))
      disk.set(path, n)
    }
    const steps: (() => void)[] = [
      () => {
        for (let n = 0; n < 6; n++) put(`${n % 2 ? 'a/' : ''}${n}.png`, n)
      },
      // Changed, changed again, and back to the first version.
      () => put('0.png', 10),
      () => put('0.png', 11),
      () => put('0.png', 0),
      // Deleted, and there again with the same bytes, then with other bytes.
      () => disk.delete('2.png') && remove('2.png'),
      () => put('2.png', 2),
      () => disk.delete('2.png') && remove('2.png'),
      () => put('2.png', 12),
      // Moved to another name, and a copy made and removed.
      () => {
        renameSync(join(pictures, '4.png'), join(pictures, 'a/four.png'))
        disk.set('a/four.png', 4)
        disk.delete('4.png')
      },
      () => put('a/copy.png', 1),
      () => disk.delete('a/copy.png') && remove('a/copy.png'),
      // Another one takes the name that was moved away, and a folder goes.
      () => put('4.png', 14),
      () => {
        remove('a')
        for (const path of disk.keys()) if (path.startsWith('a/')) disk.delete(path)
      },
      () => put('a/1.png', 1),
    ]
    const times: [number, Record<string, string>][] = []
    for (const step of steps) {
      step()
      const expected = Object.fromEntries([...disk].map(([path, n]) => [path, hashOf(n)]))
      times.push([await told.next({ graceMs }), expected])
      // A pass that changes nothing changes nothing of the past.
      await told.next({ graceMs })
    }
    for (const [moment, expected] of times)
      for (const later of [0, 1000]) expect(at(told, moment + later), `${moment}`).toEqual(expected)
    // It is complete from the time on that is told, and not at the last time before that was not.
    const since = restorableSince(told.synced, [1])!
    const incomplete = times.filter(([, had]) => Object.values(had).some(hash => !isThere(told, hash)))
    for (const [moment] of incomplete) expect(moment).toBeLessThan(since)
    if (graceMs > 0 || 'deletions' in policy) expect([incomplete.length, since]).toEqual([0, times[0]![0]])
    else expect(incomplete.length).toBeGreaterThan(3)
  })

  it('have the times of their files, and a picture that was moved is not given up', async () => {
    const told = await story()
    told.write('a.png', picture(1))
    const first = await told.next()
    const { mtime } = told.synced.files.ofFolder(1)[0]!
    renameSync(join(told.pictures, 'a.png'), join(told.pictures, 'b.png'))
    await told.next()
    const mirror = told.synced.mirrors.all()[0]!
    expect([...versionsAt(told.synced, [mirror], '', first)]).toMatchObject([
      { path: 'a.png', version: { mtime, size: readFileSync(join(told.pictures, 'b.png')).length } },
    ])
    expect(restorableSince(told.synced, [mirror.id])).toBe(first)
    // A config may name another folder, which no scan has seen.
    expect(restorableSince(told.synced, [])).toBeNull()
    told.write('b.png', picture(2))
    const changed = await told.next()
    expect(restorableSince(told.synced, [mirror.id])).toBe(changed)
    // The same bytes are uploaded once more, and so the past is whole again.
    told.write('c.png', picture(1))
    await told.next()
    expect(restorableSince(told.synced, [mirror.id])).toBe(first)
  })

  it('begin when a moved picture is found, and not when its upload ends', async () => {
    const told = await story()
    told.write('a.png', picture(1))
    told.write('b.png', picture(2))
    const first = await told.next()
    renameSync(join(told.pictures, 'a.png'), join(told.pictures, 'moved.png'))
    told.write('b.png', picture(1))
    told.write('new.png', picture(3))
    const host = hostWith(told.host, {
      requestUpload: async () => failure('quota', 'DAILY_LIMIT_REACHED', 'upload', { status: 429 }),
    })
    // The pictures were written too shortly before for their hashes to be recorded, but for this.
    const openPicture: EngineContext['openPicture'] = async (root, path) => {
      const open = await openFile(root, path, { changed: () => new Error('no picture is changed here') })
      return { ...open, readAt: open.readAt + 10_000_000 }
    }
    const found = await told.next({ host, openPicture })
    const waiting = await told.next({ host, openPicture })
    const both = { 'b.png': hashOf(1), 'moved.png': hashOf(1) }
    expect([at(told, found), at(told, waiting)]).toEqual([both, both])
    const uploaded = await told.next({ allowance: { ...ALLOWANCE, probeEveryMs: 0 } })
    expect(at(told, first)).toEqual({ 'a.png': hashOf(1), 'b.png': hashOf(2) })
    expect([at(told, found), at(told, waiting)]).toEqual([both, both])
    expect(at(told, uploaded)).toEqual({ ...both, 'new.png': hashOf(3) })
  })

  it('that the host has lost are given up until they are sent again', async () => {
    const told = await story()
    told.write('a.png', picture(1))
    const first = await told.next()
    const { id } = told.synced.images.byHash(Buffer.from(hashOf(1), 'hex'))[0]!
    const now = first + 500
    await told.synced.commit(tx => lost(tx, tx.images.byId(id)!, now))
    expect(restorableSince(told.synced, [1])).toBe(now)
    expect(at(told, first)).toEqual({ 'a.png': hashOf(1) })
    const again = await told.next()
    expect(restorableSince(told.synced, [1])).toBe(first)
    expect(at(told, again)).toEqual({ 'a.png': hashOf(1) })
  })

  it('are forgotten beginning with the oldest, and then nobody claims to know them', async () => {
    const told = await story()
    told.write('a.png', picture(1))
    const first = await told.next({ graceMs: 1000 })
    told.write('a.png', picture(2))
    const second = await told.next({ graceMs: 1000 })
    told.write('a.png', picture(3))
    await told.next({ graceMs: 1000 })
    expect(restorableSince(told.synced, [1])).toBe(first)
    await told.synced.commit(tx => versionsForgotten(tx, 1))
    expect(restorableSince(told.synced, [1])).toBe(second)
    expect(at(told, second)).toEqual({ 'a.png': hashOf(2) })
  })

  it('of an earlier albumd are what waits for its deletion', () => {
    const file = tempFile('albumd.db')
    const old = openDatabase(file, STEPS.slice(0, 3))
    old.exec(`
      INSERT INTO mirrors (id, folder, album) VALUES (1, '/p', 'P');
      INSERT INTO folders (id, mirror, path) VALUES (1, 1, '');
      INSERT INTO images (id, remote_id, name, hash, size, mime, recorded_at, proof) VALUES
        (1, 'one', 'a.png', x'01', 11, 'image/png', 100, 'uploaded'),
        (2, 'two', 'a.png', x'02', 12, 'image/png', 300, 'uploaded'),
        (3, 'three', 'b.png', x'03', 13, 'image/png', 150, 'uploaded');
      INSERT INTO files (folder, name, size, mtime, ctime, ino, state, since, image, hash) VALUES
        (1, 'a.png', 12, 5, 5, 5, 'synced', NULL, 2, x'02'), (1, 'b.png', 13, 7, 5, 6, 'gone', 400, 3, x'03');
      INSERT INTO escrow (image, mirror, path, reason, state, since, due_at) VALUES
        (1, 1, 'a.png', 'superseded', 'grace', 300, 9), (3, 1, 'b.png', 'deleted', 'grace', 400, 9)`)
    old.close()
    const synced = openSynced(openDatabase(file))
    onTestFinished(() => synced.close())
    const hashes = (moment: number) =>
      [...versionsAt(synced, [{ id: 1, folder: '/p' }], '', moment)].map(({ path, version }) => [
        path,
        version.hash[0],
        version.mtime,
      ])
    expect(hashes(200)).toEqual([
      ['a.png', 1, null],
      ['b.png', 3, 7],
    ])
    expect(hashes(450)).toEqual([['a.png', 2, 5]])
    // Nobody knows what was deleted before.
    expect(restorableSince(synced, [1])).toBeGreaterThan(Date.now() - 60_000)
  })
})
