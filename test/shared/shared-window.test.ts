import { expect, it } from 'vitest'
import { RateWindow } from '../../src/remote/gate/rate-window.ts'
import { SharedWindow } from '../../src/shared/shared-window.ts'
import type { Answer, Store } from '../../src/shared/store.ts'
import { StoreClock } from '../../src/shared/store-clock.ts'
import { because } from '../../src/words/reasons.ts'
import { quiet } from '../sim/engine/virtual-clock.ts'

/** A window whose store answers when the test says so. */
function openWindow() {
  const answers: PromiseWithResolvers<Answer>[] = []
  const stage = {
    now: 0,
    away: null as ReturnType<Store['away']>,
    lastAnswer: 0,
    lastStop: 0,
    /** The arguments of each question. */
    asked: [] as (string | number)[][],
    async answer(what: Answer) {
      answers.shift()!.resolve(what)
      await quiet()
    },
  }
  const store: Store = {
    run(_script, _names, args) {
      stage.asked.push([...args])
      const answer = Promise.withResolvers<Answer>()
      answers.push(answer)
      return answer.promise
    },
    away: () => stage.away,
    onReady() {},
    close: async () => {},
  }
  let ids = 0
  const window = new SharedWindow('upload', 10, new RateWindow(10), {
    store,
    machine: 'studio',
    clock: { monotonic: () => stage.now, sleep: () => new Promise(() => {}) },
    storeClock: new StoreClock(),
    share: 1 / 8,
    lastAnswer: () => stage.lastAnswer,
    lastStop: () => stage.lastStop,
    refusals() {},
    newId: () => `id-${ids++}`,
    ended: new AbortController().signal,
  })
  return { window, stage }
}

/** A window that the store has given one place. */
async function openWithPlace() {
  const { window, stage } = openWindow()
  window.enter()
  window.waitMs(stage.now)
  await stage.answer({ ok: true, value: [stage.now, 1, stage.now, 10, 0] })
  return { window, stage }
}

function lostAt(now: number) {
  return { reason: because('store_slow', { where: 'store', ms: 500 }), since: now }
}

it('gives back to the store what it counts for nothing, once the store answers again', async () => {
  const { window, stage } = openWindow()
  const { asked, answer } = stage
  const granted = (): Answer => ({ ok: true, value: [stage.now, 1, stage.now, 10, 0] })
  window.enter()
  window.enter()
  window.waitMs(stage.now)
  expect(asked[0]!.slice(0, 2)).toEqual(['studio', 'id-0'])
  await answer(granted())
  // The store hands out the second place, and nobody hears of it.
  expect(asked[1]![1]).toBe('id-1')
  stage.away = lostAt(stage.now)
  await answer({ ok: false, away: stage.away })
  stage.now += 600
  expect(window.waitMs(stage.now)).toBeGreaterThan(0)
  stage.away = null
  window.waitMs(stage.now)
  expect(asked).toHaveLength(3)
  expect(asked[2]!.slice(1, 2)).toEqual(['id-2'])
  expect(asked[2]!.slice(6)).toEqual(['id-1', '', 'id-0', ''])
})

it('asks for no place while a request that left without the store has yet to connect', () => {
  const { window, stage } = openWindow()
  stage.away = lostAt(0)
  stage.now = 10_000
  const leave = window.enter()
  expect(window.waitMs(stage.now)).toBe(0)
  const slot = window.take()
  leave()
  stage.away = null
  window.enter()
  expect(window.waitMs(stage.now)).toBeGreaterThan(0)
  expect(stage.asked).toEqual([])
  slot.start(stage.now)
  window.waitMs(stage.now)
  // The question tells of the request that left without the store.
  expect(stage.asked.map(([, id, , , , , ...reports]) => [id, reports[0]])).toEqual([['id-0', 'id-1']])
})

it('does not let a request leave once the store may have given its place to another', async () => {
  const { window, stage } = await openWithPlace()
  expect(window.waitMs(stage.now)).toBe(0)
  const slot = window.take()
  stage.now += 10_000
  expect(slot.isOver?.(stage.now)).toBe(false)
  stage.now += 1000
  expect(slot.isOver?.(stage.now)).toBe(true)
})

it('lets no request leave with a place from before the process was stopped', async () => {
  const { window, stage } = await openWithPlace()
  const slot = window.take()
  stage.now += 3000
  stage.lastStop = stage.now
  expect(slot.isOver?.(stage.now)).toBe(true)
})

it('says that it is alone for as long as a request connects that left without the store', () => {
  const { window, stage } = openWindow()
  stage.away = lostAt(0)
  stage.now = 10_000
  window.enter()
  expect(window.waitMs(stage.now)).toBe(0)
  const slot = window.take()
  expect(slot.isOver?.(stage.now + 9000)).toBe(false)
  // The process is stopped.
  stage.now += 40_000
  stage.lastStop = stage.now
  expect(slot.isOver?.(stage.now)).toBe(true)
  expect(window.wasAlone(stage.now)).toBe(true)
  slot.start(stage.now)
  expect(window.wasAlone(stage.now + 1000)).toBe(true)
  expect(window.wasAlone(stage.now + 2000)).toBe(false)
})
