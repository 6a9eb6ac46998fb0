import { expect, it } from 'vitest'
import { openAccount } from '../../src/shared/account.ts'
import type { Answer, Store } from '../../src/shared/store.ts'
import { because } from '../../src/words/reasons.ts'
import { quiet } from '../sim/engine/virtual-clock.ts'
import { FakeRedis } from '../sim/machines/fake-redis.ts'

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
  const account = openAccount(store, {
    machine: { id: 'id', name: 'studio' },
    share: 1 / 8,
    usedToday: 0,
    clock,
  })
  await quiet()
  expect(waiting).toHaveLength(1)
  let isClosed = false
  void account.close().then(() => {
    isClosed = true
  })
  for (let turns = 0; turns < 5; turns++) await quiet()
  expect(isClosed).toBe(true)
})

it('counts what a machine has used once, also after it got another name', async () => {
  const redis = new FakeRedis(() => 1_795_262_400_000)
  const store = {
    run: async (...what) => ({ ok: true, value: redis.run(...what) }),
    away: () => null,
    onReady() {},
    close: async () => {},
  } as Store
  // A beat for each time that a machine is opened.
  const clock = {
    monotonic: () => 0,
    sleep: (_ms: number, signal: AbortSignal) =>
      new Promise<void>(resolve => signal.addEventListener('abort', () => resolve())),
  }
  const open = async (id: string, name: string) => {
    const account = openAccount(store, { machine: { id, name }, share: 1 / 8, usedToday: 5, clock })
    for (let turns = 0; turns < 5; turns++) await quiet()
    return account
  }
  await (await open('a', 'studio')).close()
  await open('a', 'studio upstairs')
  const other = await open('b', 'laptop')
  expect(other.others.used(86_400_000)).toBe(5)
  expect(other.machines().map(({ facts }) => facts.name)).toEqual(['laptop', 'studio upstairs'])
})
