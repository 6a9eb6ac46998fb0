import Database from 'better-sqlite3'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Db, openDatabase } from '../../src/synced/database.ts'
import { groupCommits } from '../../src/synced/synced.ts'
import { tempFile } from '../temp-folder.ts'

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
