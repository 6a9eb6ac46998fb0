import { expect, it } from 'vitest'
import { openAccount } from '../../src/shared/account.ts'
import type { Answer, Store } from '../../src/shared/store.ts'
import { because } from '../../src/words/reasons.ts'
import { quiet } from '../sim/engine/virtual-clock.ts'

it('ends without waiting for a store that hangs', async () => {
  const away = { reason: because('store_slow', { where: 'store', ms: 500 }), since: 0 }
  const waiting: PromiseWithResolvers<Answer>[] = []
  const store: Store = {
    run() {
      const answer = Promise.withResolvers<Answer>()
      waiting.push(answer)
      return answer.promise
    },
    away: () => away,
    onReady() {},
    async close() {
      for (const answer of waiting.splice(0)) answer.resolve({ ok: false, away })
    },
  }
  const clock = { monotonic: () => 0, sleep: async () => {} }
  const account = openAccount(store, { machine: 'studio', share: 1 / 8, usedToday: 0, clock })
  await quiet()
  expect(waiting).toHaveLength(1)
  let isClosed = false
  void account.close().then(() => {
    isClosed = true
  })
  for (let turns = 0; turns < 5; turns++) await quiet()
  expect(isClosed).toBe(true)
})
