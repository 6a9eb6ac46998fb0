import { expect, it } from 'vitest'
import { RateWindow } from '../../src/remote/gate/rate-window.ts'
import { SharedWindow } from '../../src/shared/shared-window.ts'
import type { Answer, Store } from '../../src/shared/store.ts'
import { StoreClock } from '../../src/shared/store-clock.ts'
import { because } from '../../src/words/reasons.ts'
import { quiet } from '../sim/engine/virtual-clock.ts'

it('gives back to the store what it counts for nothing, once the store answers again', async () => {
  let now = 0
  let away: ReturnType<Store['away']> = null
  const asked: (string | number)[][] = []
  const answers: PromiseWithResolvers<Answer>[] = []
  const store: Store = {
    run(_script, _names, args) {
      asked.push([...args])
      const answer = Promise.withResolvers<Answer>()
      answers.push(answer)
      return answer.promise
    },
    away: () => away,
    onReady() {},
    close: async () => {},
  }
  let ids = 0
  const window = new SharedWindow('upload', 10, new RateWindow(10), {
    store,
    machine: 'studio',
    clock: { monotonic: () => now, sleep: () => new Promise(() => {}) },
    storeClock: new StoreClock(),
    share: 1 / 8,
    lastAnswer: () => now,
    refusals() {},
    newId: () => `id-${ids++}`,
    ended: new AbortController().signal,
  })
  const granted = (): Answer => ({ ok: true, value: [now, 1, now, 10, 22, 0] })
  const answer = async (what: Answer) => {
    answers.shift()!.resolve(what)
    await quiet()
  }
  window.enter()
  window.enter()
  window.waitMs(now)
  expect(asked[0]!.slice(0, 2)).toEqual(['studio', 'id-0'])
  await answer(granted())
  // The store hands out the second place, and nobody hears of it.
  expect(asked[1]![1]).toBe('id-1')
  away = { reason: because('store_slow', { where: 'store', ms: 500 }), since: now }
  await answer({ ok: false, away })
  now += 600
  expect(window.waitMs(now)).toBeGreaterThan(0)
  away = null
  window.waitMs(now)
  expect(asked).toHaveLength(3)
  expect(asked[2]!.slice(1, 2)).toEqual(['id-2'])
  expect(asked[2]!.slice(6)).toEqual(['id-1', '', 'id-0', ''])
})
