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
