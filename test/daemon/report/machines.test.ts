import { expect, test } from 'vitest'
import { recordMachines } from '../../../src/daemon/report/machines.ts'
import type { SharedAccount } from '../../../src/shared/account.ts'
import { because } from '../../../src/words/reasons.ts'

test('the log has a store that stays away once, and one that is away for a moment not at all', () => {
  let now = 1_795_262_400_000
  let isAway = false
  let beat = async () => {}
  const noted: string[] = []
  const shared = {
    away: () => (isAway ? { reason: because('store_lost', { where: 'store' }), since: 0 } : null),
    machines: () => [],
    onBeat: told => {
      beat = told
    },
  } as Partial<SharedAccount> as SharedAccount
  recordMachines(
    shared,
    { commit: async () => ({}) as never },
    () => now,
    ({ event }) => noted.push(event),
  )
  /** A beat a second. */
  const beats = (answers: readonly boolean[]) => {
    for (const answer of answers) {
      now += 1000
      isAway = !answer
      void beat()
    }
  }
  beats([true, false, false, true, false, true, false])
  expect(noted).toEqual([])
  beats(Array(20).fill(false))
  expect(noted).toEqual(['store_away'])
  beats([true, true, false, true])
  expect(noted).toEqual(['store_away', 'store_answers'])
})
