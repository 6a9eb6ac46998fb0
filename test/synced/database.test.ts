import { once } from 'node:events'
import fs, { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Db, openDatabase, openDatabaseToRead } from '../../src/synced/database.ts'
import { lockFolder, lockState, stateIsLocked, whoMirrors } from '../../src/synced/lock.ts'
import { groupCommits } from '../../src/synced/synced.ts'
import { because } from '../../src/words/reasons.ts'
import { asNobody } from '../nobody.ts'
import { tempFile } from '../temp-folder.ts'
import { memoryDb } from './open-tx.ts'

describe('the database', () => {
  it('is synced to the disk before a commit is told of', async () => {
    const fsync = vi.spyOn(fs, 'fdatasync')
    const fsyncNow = vi.spyOn(fs, 'fdatasyncSync')
    syncBuiltinESMExports()
    onTestFinished(() => {
      vi.restoreAllMocks()
      syncBuiltinESMExports()
    })
    vi.resetModules()
    const { openSynced } = await import('../../src/synced/synced.ts')
    const file = tempFile('a.db')
    const synced = openSynced(openDatabase(file))
    onTestFinished(() => synced.close())
    const ofLog = (spy: { mock: { calls: unknown[][] } }) =>
      spy.mock.calls.map(([fd]) => fs.fstatSync(fd as number).ino === fs.statSync(`${file}-wal`).ino)
    await synced.commit(tx => tx.meta.set('bandwidth', '1'))
    expect(ofLog(fsync)).toEqual([true])
    synced.commitNow(tx => tx.meta.set('bandwidth', '2'))
    expect(ofLog(fsyncNow)).toEqual([true])
  })

  it('is refused where a newer albumd wrote it, to read and to write', () => {
    const file = tempFile('a.db')
    const db = openDatabase(file)
    db.pragma('user_version = 999')
    db.close()
    expect(() => openDatabase(file)).toThrow(expect.objectContaining({ code: 'STATE_NEWER' }))
    expect(() => openDatabaseToRead(file)).toThrow(expect.objectContaining({ code: 'STATE_NEWER' }))
  })

  it('says so where the file is something else', () => {
    const file = tempFile('a.db')
    writeFileSync(file, 'not a database, though longer than a header of one would be: '.repeat(20))
    expect(() => openDatabase(file)).toThrow(expect.objectContaining({ code: 'STATE_DAMAGED' }))
  })

  it('says so where its folder is not there', () => {
    expect(() => openDatabase('/nonexistent/a.db')).toThrow(
      expect.objectContaining({ code: 'STATE_UNREADABLE' }),
    )
  })

  it('can be read while another connection writes', () => {
    const file = tempFile('a.db')
    const writer = openDatabase(file)
    writer.exec('BEGIN IMMEDIATE')
    const reader = openDatabaseToRead(file)
    expect(reader.prepare('SELECT count(*) AS n FROM files').get()).toEqual({ n: 0 })
    reader.close()
    writer.exec('ROLLBACK')
    writer.close()
  })

  it.runIf(process.platform === 'linux')('can be read where nothing may be written beside it', async () => {
    const file = tempFile('a.db')
    openDatabase(file).close()
    const folder = dirname(file)
    chmodSync(file, 0o444)
    chmodSync(folder, 0o555)
    onTestFinished(() => chmodSync(folder, 0o755))
    await asNobody(() => {
      const reader = openDatabaseToRead(file)
      expect(reader.prepare('SELECT count(*) AS n FROM files').get()).toEqual({ n: 0 })
      reader.close()
    })
  })
})

describe('group commits', () => {
  it('share one transaction a turn, and one that throws takes nothing else with it', async () => {
    const db = memoryDb()
    const commit = groupCommits(db)
    const put = db.prepare<[string]>(`INSERT INTO meta (key, value) VALUES (?, '')`)
    const begins: string[] = []
    const results = await Promise.allSettled([
      commit(() => put.run('one')),
      commit(() => {
        put.run('two')
        begins.push(String(db.inTransaction))
        throw new Error('no')
      }),
      commit(() => put.run('three')),
    ])
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(begins).toEqual(['true'])
    expect(db.prepare('SELECT key FROM meta ORDER BY key').pluck().all()).toEqual(['one', 'three'])
  })
})

describe('the schedule of groups', () => {
  it('knows for how long nobody shared a group', async () => {
    const db = memoryDb()
    const told: number[] = []
    const commit = groupCommits(db, {
      schedule(flush, singles) {
        told.push(singles)
        setImmediate(flush)
      },
    })
    for (const changes of [1, 1, 2, 1])
      await Promise.all(Array.from({ length: changes }, () => commit(() => {})))
    expect(told).toEqual([0, 1, 2, 0])
  })
})

describe('a group that is synced', () => {
  it('is told of when it is on the disk, and what comes meanwhile is the next group', async () => {
    const db = memoryDb()
    const syncs: PromiseWithResolvers<void>[] = []
    const commit = groupCommits(db, {
      sync() {
        syncs.push(Promise.withResolvers<void>())
        return syncs.at(-1)!.promise
      },
    })
    const told: string[] = []
    const make = (name: string) => commit(() => db.pragma('user_version')).then(() => told.push(name))
    const all = [make('one'), make('two')]
    await vi.waitFor(() => expect(syncs).toHaveLength(1))
    all.push(make('three'))
    await new Promise(resolve => setImmediate(resolve))
    expect(told).toEqual([])
    syncs[0]!.resolve()
    await vi.waitFor(() => expect(syncs).toHaveLength(2))
    expect(told).toEqual(['one', 'two'])
    syncs[1]!.resolve()
    await Promise.all(all)
  })

  it('does not wait where all its changes may be lost in a power cut', async () => {
    const db = memoryDb()
    const due: boolean[] = []
    const commit = groupCommits(db, {
      sync(isDue) {
        due.push(isDue)
        return isDue ? Promise.resolve() : null
      },
    })
    await commit(() => {}, 'unsynced')
    await Promise.all([commit(() => {}, 'unsynced'), commit(() => {})])
    expect(due).toEqual([false, true])
  })

  it('is lost when the disk fails, and nothing is committed any more', async () => {
    const db = memoryDb()
    const error = Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' })
    const commit = groupCommits(db, { sync: () => Promise.reject(error) })
    const failed = { name: 'StateError', code: 'STATE_UNWRITABLE' }
    await expect(commit(() => {})).rejects.toMatchObject(failed)
    await expect(commit(() => {})).rejects.toMatchObject(failed)
  })
})

describe('locks', () => {
  it('keep a second one from a state, until the first is released', () => {
    const file = tempFile('lock.db')
    expect(stateIsLocked(file)).toBe(false)
    const lock = lockState(file)
    expect(() => lockState(file)).toThrow(expect.objectContaining({ code: 'LOCKED' }))
    expect(stateIsLocked(file)).toBe(true)
    lock.release()
    expect(stateIsLocked(file)).toBe(false)
    lockState(file).release()
  })

  it('keep a second one from a folder, whatever its state', () => {
    const root = { dev: 1, ino: process.pid, birthtime: 0 }
    expect(whoMirrors('/pictures', root)).toBeNull()
    const lock = lockFolder('/pictures', root)
    expect(() => lockFolder('/pictures', root)).toThrow(expect.objectContaining({ code: 'LOCKED' }))
    const taken = because('mirrored_by_another', { folder: '/pictures', pid: process.pid })
    expect(whoMirrors('/pictures', root)).toEqual(taken)
    lock.release()
    expect(whoMirrors('/pictures', root)).toBeNull()
    lockFolder('/pictures', root).release()
  })

  it.runIf(process.platform === 'linux')('of a folder is no socket that any user could take', async () => {
    const root = { dev: 2, ino: process.pid, birthtime: 0 }
    const server = createServer().listen({ path: `\0albumd/mirror/${root.dev}/${root.ino}` })
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    lockFolder('/pictures', root).release()
  })
})

describe('what is written in a folder that others can look into', () => {
  const readable = (folder: string) =>
    readdirSync(folder).filter(name => (statSync(join(folder, name)).mode & 0o077) !== 0)

  it('is readable by its owner alone, also where it was not before', () => {
    const file = tempFile('albumd.db')
    const folder = dirname(file)
    chmodSync(folder, 0o755)
    const mask = process.umask(0)
    onTestFinished(() => void process.umask(mask))
    const lock = lockState(join(folder, 'lock.db'))
    const first = open(file)
    first.put.run('a', 'b')
    expect(readdirSync(folder).sort()).toEqual(['albumd.db', 'albumd.db-shm', 'albumd.db-wal', 'lock.db'])
    expect(readable(folder)).toEqual([])
    for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o644)
    open(file)
    lock.release()
    lockState(join(folder, 'lock.db')).release()
    expect(readable(folder)).toEqual([])
  })
})

function open(file = tempFile('albumd.db')) {
  const db = openDatabase(file)
  onTestFinished(() => void db.close())
  const put = db.prepare<[string, string]>('INSERT INTO meta (key, value) VALUES (?, ?)')
  const keys = () => db.prepare('SELECT key FROM meta ORDER BY key').pluck().all()
  return { db, put, keys, commit: groupCommits(db) }
}

/** As much as SQLite takes for a full disk. */
function leaveNoRoom(db: Db): void {
  db.pragma(`max_page_count = ${db.pragma('page_count', { simple: true })}`)
}

const large = 'x'.repeat(1e6)

describe('a database that fails', () => {
  it('takes all changes of its turn with it, and says why', async () => {
    const { db, put, keys, commit } = open()
    leaveNoRoom(db)
    const results = await Promise.allSettled([
      commit(() => put.run('one', '')),
      commit(() => put.run('two', large)),
      commit(() => put.run('three', '')),
    ])
    for (const result of results)
      expect(result).toMatchObject({ status: 'rejected', reason: { name: 'StateError', code: 'STATE_FULL' } })
    expect(keys()).toEqual([])
  })

  it('is not gone on with: what is in memory may not be what is recorded', async () => {
    const { db, put, keys, commit } = open()
    leaveNoRoom(db)
    await expect(commit(() => put.run('large', large))).rejects.toMatchObject({ code: 'STATE_FULL' })
    db.pragma('max_page_count = 1000000')
    await expect(commit(() => put.run('small', ''))).rejects.toMatchObject({ code: 'STATE_FULL' })
    expect(keys()).toEqual([])
  })

  it('is one that another program keeps locked for too long', async () => {
    const file = tempFile('albumd.db')
    const { db, put, commit } = open(file)
    db.pragma('busy_timeout = 1')
    const other = new Database(file)
    onTestFinished(() => void other.close())
    other.exec('BEGIN IMMEDIATE')
    await expect(commit(() => put.run('one', ''))).rejects.toMatchObject({
      code: 'STATE_BUSY',
      message: expect.stringContaining(file),
    })
  })
})
