import { expect, it, onTestFinished } from 'vitest'
import { blocksBefore } from '../../src/daemon/state/last-process.ts'
import { openDatabase } from '../../src/synced/database.ts'
import { openSynced } from '../../src/synced/synced.ts'

const NOW = 1_000_000
const clock = { wall: () => NOW, monotonic: () => 5000, sleep: async () => {} }

function stateWith(code: string, said_at: number) {
  const synced = openSynced(openDatabase(':memory:'))
  onTestFinished(() => synced.close())
  synced.commitNow(tx => tx.meta.set('plan', 'professional'))
  synced.commitNow(tx => tx.account.block({ endpoint: 'delete', code, message: 'no', since: 1, said_at }))
  return synced
}

it('what the plan or the storage shut stays shut for as long as it would have', () => {
  expect(blocksBefore(stateWith('PLAN_NOT_SUPPORTED', NOW - 60_000), 'professional', clock)).toEqual([
    { endpoint: 'delete', remedy: 'plan', code: 'PLAN_NOT_SUPPORTED', message: 'no', since: 5000 - 60_000 },
  ])
})

it.each([
  ['under another plan', 'PLAN_NOT_SUPPORTED', NOW - 1, 'flagship'],
  ['where a key was refused', 'INVALID_API_KEY', NOW - 1, 'professional'],
  ['where the clock was set back', 'STORAGE_LIMIT_REACHED', NOW + 1000, 'professional'],
])('the host is asked anew %s', (_, code, saidAt, plan) => {
  expect(blocksBefore(stateWith(code, saidAt), plan, clock)).toEqual([])
})
