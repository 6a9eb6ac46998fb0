import { expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../src/synced/database.ts'
import { openTx } from './open-tx.ts'

it('a block has lasted since the host first said what it says now', () => {
  const synced = openTx(openDatabase(':memory:'))
  onTestFinished(() => synced.close())
  const said = (code: string, at: number) => {
    synced.account.block({ endpoint: 'list', code, message: 'no', since: at, said_at: at })
    return synced.account.blocks()
  }
  expect(said('HOST_UNREACHABLE', 1)).toMatchObject([{ since: 1 }])
  expect(said('HOST_UNREACHABLE', 2)).toMatchObject([{ since: 1, said_at: 2 }])
  expect(said('PLAN_NOT_SUPPORTED', 3)).toMatchObject([{ code: 'PLAN_NOT_SUPPORTED', since: 3, said_at: 3 }])
})
