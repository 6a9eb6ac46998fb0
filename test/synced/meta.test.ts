import { expect, it, onTestFinished } from 'vitest'
import { openDatabase, openDatabaseToRead } from '../../src/synced/database.ts'
import { openSynced } from '../../src/synced/synced.ts'
import { tempFile } from '../temp-folder.ts'

function open(file: string) {
  const db = openDatabase(file)
  onTestFinished(() => void db.close())
  return openSynced(db)
}

it('a fact that was read is what was committed, also after a change that threw', async () => {
  const { meta, commit } = open(tempFile('a.db'))
  await commit(tx => tx.meta.set('bandwidth', '1'))
  expect(meta.get('bandwidth')).toBe('1')
  const thrown = commit(tx => {
    tx.meta.set('bandwidth', '2')
    expect(tx.meta.get('bandwidth')).toBe('2')
    tx.meta.clear('config')
    throw new Error('no')
  })
  const after = commit(tx => tx.meta.get('bandwidth'))
  await expect(thrown).rejects.toThrow('no')
  expect(await after).toBe('1')
  expect(meta.get('bandwidth')).toBe('1')
  await commit(tx => tx.meta.clear('bandwidth'))
  expect(meta.get('bandwidth')).toBeNull()
})

it('the quota that was read is what was committed, also after a change that threw', async () => {
  const { account, commit } = open(tempFile('a.db'))
  const day = '2026-11-25T00:00:00.000Z'
  expect(account.quota(day).used).toBe(0)
  await commit(tx => tx.account.useQuota(day))
  expect(account.quota(day).used).toBe(1)
  const thrown = commit(tx => {
    tx.account.useQuota(day)
    expect(tx.account.quota(day).used).toBe(2)
    throw new Error('no')
  })
  const after = commit(tx => tx.account.quota(day).used)
  await expect(thrown).rejects.toThrow('no')
  expect(await after).toBe(1)
  expect(account.quota(day).used).toBe(1)
  await commit(tx => tx.account.forgetExhaustion())
  await commit(tx => tx.account.pruneQuota(0))
  expect(account.quota(day).used).toBe(0)
})

it('a fact is read anew where another connection writes', async () => {
  const file = tempFile('a.db')
  const { commit } = open(file)
  const db = openDatabaseToRead(file)
  onTestFinished(() => void db.close())
  const reader = openSynced(db)
  expect(reader.meta.get('bandwidth')).toBeNull()
  await commit(tx => tx.meta.set('bandwidth', '1'))
  expect(reader.meta.get('bandwidth')).toBe('1')
})
