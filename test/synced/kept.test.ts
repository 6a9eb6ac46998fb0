import { expect, it } from 'vitest'
import { statements } from '../../src/synced/database.ts'
import { openSynced } from '../../src/synced/synced.ts'
import { because } from '../../src/words/reasons.ts'
import { emptyState, memoryDb } from './open-tx.ts'

it('what was read of a table is what was committed, also after a change that threw', async () => {
  const { commit, mirrors, folders } = emptyState()
  const id = await commit(tx => tx.folders.add(tx.mirrors.add('/pictures', 'Photos').id, '').id)
  expect(mirrors.of('/other')).toBeUndefined()
  expect(folders.byId(id)!.ignore_gone).toBe(0)
  const thrown = commit(tx => {
    tx.mirrors.add('/other', 'Others')
    tx.folders.ignoreGone(id)
    expect(tx.mirrors.of('/other')!.album).toBe('Others')
    expect(tx.folders.byId(id)!.ignore_gone).toBe(1)
    throw new Error('no')
  })
  const seen = commit(tx => [tx.mirrors.of('/other'), tx.folders.byId(id)!.ignore_gone])
  await expect(thrown).rejects.toThrow('no')
  expect(await seen).toEqual([undefined, 0])
  expect([mirrors.of('/other'), folders.byId(id)!.ignore_gone]).toEqual([undefined, 0])
})

it('a fact is what was committed, also after a change of it that threw', async () => {
  const { commit, meta } = emptyState()
  await commit(tx => tx.meta.set('audit_slot', 1))
  expect([meta.get('audit_slot'), meta.get('paused')]).toEqual([1, null])
  const thrown = commit(tx => {
    tx.meta.set('audit_slot', 2)
    tx.meta.set('paused', true)
    expect([tx.meta.get('audit_slot'), tx.meta.get('paused')]).toEqual([2, true])
    throw new Error('no')
  })
  await expect(thrown).rejects.toThrow('no')
  expect([meta.get('audit_slot'), meta.get('paused')]).toEqual([1, null])
  await commit(tx => tx.meta.clear('audit_slot'))
  expect(meta.get('audit_slot')).toBeNull()
})

it('a row is removed of a table that was empty a moment ago', async () => {
  const { commit, waits } = emptyState()
  const file = { folder: 1, name: 'a.png' }
  const clear = () => commit(tx => tx.waits.clear(file))
  await clear()
  await commit(tx => tx.waits.put({ ...file, why: because('still_written'), until: null, at: 1 }))
  await clear()
  expect(waits.of(file)).toBeUndefined()
  await commit(tx => {
    tx.waits.put({ ...file, why: because('still_written'), until: null, at: 1 })
    tx.waits.clear(file)
  })
  expect(waits.of(file)).toBeUndefined()
})

it('a row is found in a table that was empty a moment ago, and was when a change threw', async () => {
  const { commit, resend, waits } = emptyState()
  const file = { folder: 1, name: 'a.png' }
  const found = () => [resend.has(file), waits.of(file)?.at]
  const put = (throws: boolean) =>
    commit(tx => {
      tx.resend.put(file)
      tx.waits.put({ ...file, why: because('still_written'), until: null, at: 1 })
      expect([tx.resend.has(file), tx.waits.of(file)?.at]).toEqual([true, 1])
      if (throws) throw new Error('no')
    })
  expect(found()).toEqual([false, undefined])
  await expect(put(true)).rejects.toThrow('no')
  expect(found()).toEqual([false, undefined])
  await put(false)
  expect(found()).toEqual([true, 1])
})

it('a copy tells of each write, in one transaction that nothing undoes', async () => {
  const db = memoryDb()
  const { commit, meta, waits } = openSynced(db, { isCopy: true })
  const file = { folder: 1, name: 'a.png' }
  for (const slot of [1, 2]) {
    await commit(tx => {
      tx.meta.set('audit_slot', slot)
      tx.waits.clear(file)
      tx.waits.put({ ...file, why: because('still_written'), until: null, at: slot })
      expect(tx.meta.get('audit_slot')).toBe(slot)
    })
    expect([meta.get('audit_slot'), waits.of(file)!.at]).toEqual([slot, slot])
    expect(db.inTransaction).toBe(true)
  }
  await commit(tx => tx.waits.clear(file))
  expect(waits.of(file)).toBeUndefined()
})

it('a table that a statement writes is known by its text', () => {
  const { isEmpty, run } = statements(memoryDb())
  const [ignore, replace, plain] = ['INSERT OR IGNORE', 'INSERT OR REPLACE', 'INSERT'].map(insert =>
    run<[string]>(`${insert} INTO meta (key, value) VALUES (?, '')`),
  )
  const remove = run<[]>('DELETE FROM meta')
  for (const add of [ignore, replace, plain]) {
    expect(isEmpty('meta')).toBe(true)
    add!('key')
    expect(isEmpty('meta')).toBe(false)
    remove()
  }
})
