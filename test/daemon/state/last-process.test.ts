import { expect, it } from 'vitest'
import {
  blocksBefore,
  earlierRequests,
  endRequests,
  startRequests,
} from '../../../src/daemon/state/last-process.ts'
import { openSynced } from '../../../src/synced/synced.ts'
import { said } from '../../../src/words/reasons.ts'
import { memoryDb } from '../../synced/open-tx.ts'

type Tx = Parameters<typeof startRequests>[0]

function state() {
  const db = memoryDb()
  return openSynced(db)
}

it.each<[string, (tx: Tx) => unknown, unknown]>([
  ['do not count where there were none', () => {}, null],
  [
    'count as sent just now when that process was killed',
    tx => {
      tx.meta.set('base_url', 'https://example.com/api/v1')
      endRequests(tx, 100)
      startRequests(tx)
    },
    5000,
  ],
  ['count as sent until the recorded time when it ended cleanly', tx => endRequests(tx, 100), 100],
  ['count one by one when it knew them', tx => endRequests(tx, { list: [90, 95.5] }), { list: [90, 95.5] }],
  ['no longer count after a reboot', tx => tx.meta.set('quiet_since', 'another-boot 100'), null],
])('requests of an earlier process %s', (_, change, earlier) => {
  const synced = state()
  synced.commitNow(tx => void change(tx))
  expect(earlierRequests(synced, 5000)).toEqual(earlier)
})

const NOW = 1_000_000
const clock = { wall: () => NOW, monotonic: () => 5000, sleep: async () => {} }

function stateWith(code: string, said_at: number) {
  const synced = state()
  synced.commitNow(tx => tx.meta.set('plan', 'professional'))
  synced.commitNow(tx =>
    tx.account.block({ endpoint: 'delete', code, message: said('no'), since: 1, said_at }),
  )
  return synced
}

it('an endpoint that plan or storage blocked stays blocked until it is time to ask again', () => {
  const code = 'PLAN_NOT_SUPPORTED'
  expect(blocksBefore(stateWith(code, NOW - 60_000), 'professional', clock)).toEqual([
    { endpoint: 'delete', remedy: 'plan', code, message: said('no'), since: 5000 - 60_000 },
  ])
})

it.each(['INVALID_API_KEY', 'OTHER_ACCOUNT'])('a key that the host refused counts as refused: %s', code => {
  const blocks = blocksBefore(stateWith(code, NOW - 60_000), 'professional', clock)
  expect(blocks).toMatchObject([{ remedy: 'key', code }])
})

it.each([
  ['under another plan', 'PLAN_NOT_SUPPORTED', NOW - 1, 'flagship'],
  ['where the clock was set back', 'STORAGE_LIMIT_REACHED', NOW + 1000, 'professional'],
])('an endpoint that the host refused is free again %s', (_, code, saidAt, plan) => {
  expect(blocksBefore(stateWith(code, saidAt), plan, clock)).toEqual([])
})
