import { expect, it, onTestFinished } from 'vitest'
import { openDatabase } from '../../src/synced/database.ts'
import { said } from '../../src/words/reasons.ts'
import { openTx } from './open-tx.ts'

it('a block has lasted since the host first said what it says now', () => {
  const synced = openTx(openDatabase(':memory:'))
  onTestFinished(() => synced.close())
  const answer = (code: string, at: number) => {
    synced.account.block({ endpoint: 'list', code, message: said('no'), since: at, said_at: at })
    return synced.account.blocks()
  }
  expect(answer('HOST_UNREACHABLE', 1)).toMatchObject([{ since: 1 }])
  expect(answer('HOST_UNREACHABLE', 2)).toMatchObject([{ since: 1, said_at: 2 }])
  expect(answer('PLAN_NOT_SUPPORTED', 3)).toMatchObject([
    { code: 'PLAN_NOT_SUPPORTED', since: 3, said_at: 3 },
  ])
})
