import { statSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isPruningDue, prune } from '../../src/sync/pass.ts'
import { type Db, openDatabase } from '../../src/synced/database.ts'
import { said } from '../../src/words/reasons.ts'
import { tempFile } from '../temp-folder.ts'
import { openTx } from './open-tx.ts'
import { IMAGE } from './rows.ts'

const DAY_MS = 86_400_000

function open(file = ':memory:'): {
  db: Db
  synced: ReturnType<typeof openTx>
  place: { mirror: number; path: string }
} {
  const db = openDatabase(file)
  onTestFinished(() => void db.close())
  const synced = openTx(db)
  const { id } = synced.mirrors.add('/srv/photos', 'Photos')
  return { db, synced, place: { mirror: id, path: 'a/b.png' } }
}

const rowsIn = (db: Db) => db.prepare('SELECT count(*) FROM history').pluck().get() as number
/** Rows of other paths, from the beginning of time on. */
const fill = (db: Db, n: number, at: number) =>
  db.exec(`INSERT INTO history (mirror, path, at, event)
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${n})
    SELECT 1, 'p' || i, ${at} + i, 'uploaded' FROM n`)
const at = (wall: number) => ({ wall: () => wall, monotonic: () => 0, sleep: async () => {} })
const never = new AbortController().signal

describe('the history of a path', () => {
  it('is told in order, by its file as by its path', () => {
    const { synced, place } = open()
    const folder = synced.folders.add(place.mirror, 'a')
    synced.history.ofFile({ folder: folder.id, name: 'b.png' }, { at: 5, event: 'uploaded' })
    synced.history.add(place, { at: 4.4, event: 'gone', detail: said('gone from the disk') })
    synced.history.add({ ...place, path: 'a' }, { at: 1, event: 'kept' })
    expect(synced.history.of(place)).toEqual([
      { ...place, at: 5, event: 'uploaded', detail: null },
      { ...place, at: 4, event: 'gone', detail: said('gone from the disk') },
    ])
    expect(synced.history.last(place)).toBe('gone')
    expect(synced.history.last({ ...place, path: 'c' })).toBeUndefined()
  })

  it('does not repeat the same note, and does after another', () => {
    const { synced, place } = open()
    const { history } = synced
    const large = said('too large')
    for (const detail of [large, large, null, null, large])
      history.add(place, { at: 1, event: 'failed', detail })
    expect(history.of(place).map(({ detail }) => detail)).toEqual([large, null, large])
  })

  it('has the latest twenty of a path, and all of the others', () => {
    const { synced, place } = open()
    synced.history.add({ ...place, path: 'a/other.png' }, { at: 0, event: 'uploaded' })
    for (let n = 0; n < 50; n++) synced.history.add(place, { at: n, event: 'changed', detail: said(`${n}`) })
    expect(synced.history.of(place).map(({ at }) => at)).toEqual(Array.from({ length: 20 }, (_, n) => 30 + n))
    expect(synced.history.of({ ...place, path: 'a/other.png' })).toHaveLength(1)
  })

  it('of an image is that of the path that it is given up for, and none where it is not given up', () => {
    const { synced, place } = open()
    const { id: image } = synced.images.put(IMAGE)
    synced.history.ofImage(image, { at: 1, event: 'approved' })
    expect(synced.history.of(place)).toEqual([])
    synced.escrow.put({ ...place, image, reason: 'deleted', state: 'held', since: 1, due_at: 1 })
    synced.history.ofImage(image, { at: 2, event: 'approved' })
    expect(synced.history.of(place)).toMatchObject([{ at: 2, event: 'approved' }])
  })
})

describe('pruning', () => {
  it('forgets what is older than 90 days, in steps, and nothing else', async () => {
    const { db, synced, place } = open()
    const now = 1000 * DAY_MS
    fill(db, 1700, now - 91 * DAY_MS)
    synced.history.add(place, { at: now - 89 * DAY_MS, event: 'uploaded' })
    let commits = 0
    const commit: ReturnType<typeof openTx>['commit'] = change => {
      commits++
      return synced.commit(change)
    }
    await prune({ synced: { ...synced, commit }, clock: at(now) }, never)
    expect(rowsIn(db)).toBe(1)
    expect(commits).toBe(4)
    await prune({ synced: { ...synced, commit }, clock: at(now) }, never)
    expect(commits).toBe(4)
  })

  it('forgets which images were deleted more than 90 days ago', async () => {
    const { db, synced } = open()
    const now = 1000 * DAY_MS
    for (let n = 0; n < 1200; n++) synced.deleted.put(`old-${n}`, now - 91 * DAY_MS)
    synced.deleted.put('new', now - 89 * DAY_MS)
    await prune({ synced, clock: at(now) }, never)
    expect(db.prepare('SELECT remote_id FROM deleted').pluck().all()).toEqual(['new'])
  })

  it('forgets the oldest of what is more than 100,000 beside one for each image', async () => {
    const { db, synced } = open()
    fill(db, 101_230, 1000 * DAY_MS)
    await prune({ synced, clock: at(1001 * DAY_MS) }, never)
    expect(rowsIn(db)).toBe(100_000)
    expect(db.prepare('SELECT min(at) FROM history').pluck().get()).toBe(1000 * DAY_MS + 1231)
  })

  it('is due once an hour, also after the clock was set back', () => {
    const { synced } = open()
    const due = (hours: number) => isPruningDue(synced, hours * 3_600_000)
    expect([due(10), due(10.5), due(11), due(2), due(2.5)]).toEqual([true, false, true, true, false])
  })

  it('ends early when it is told to stop', async () => {
    const { db, synced } = open()
    fill(db, 2000, 0)
    await prune({ synced, clock: at(1000 * DAY_MS) }, AbortSignal.abort())
    expect(rowsIn(db)).toBe(2000)
  })
})

describe('the file of the database', () => {
  it('has a log that is short again after one large commit', () => {
    const file = tempFile('albumd.db')
    const { db } = open(file)
    fill(db, 400_000, 0)
    expect(statSync(`${file}-wal`).size).toBeGreaterThan(17 * 2 ** 20)
    // The first commit brings the log into the database, the second begins it anew.
    for (let n = 0; n < 2; n++) fill(db, 1, n)
    expect(statSync(`${file}-wal`).size).toBeLessThanOrEqual(16 * 2 ** 20)
  })
})
