import { array, assert, integer, property } from 'fast-check'
import { expect, test } from 'vitest'
import { RateWindow } from '../../src/host/host-service.ts'

test('whatever comes when, no second admits more than the limit, and none is refused without need', () => {
  const waits = array(integer({ min: 0, max: 400 }), { maxLength: 200 })
  void assert(
    property(integer({ min: 1, max: 12 }), waits, (limit, gaps) => {
      const window = new RateWindow(limit)
      const admitted: number[] = []
      let now = 0
      for (const gap of gaps) {
        now += gap
        const before = admitted.filter(at => now - at < 1000).length
        const isAdmitted = window.take(now).retryAfterMs === null
        expect(isAdmitted).toBe(before < limit)
        if (isAdmitted) admitted.push(now)
      }
    }),
  )
})

test('a refusal says after how long a request will be admitted', () => {
  const window = new RateWindow(2)
  window.take(100)
  window.take(400)
  expect(window.take(700)).toEqual({ limit: 2, remaining: 0, retryAfterMs: 400 })
  expect(window.take(1099).retryAfterMs).toBe(1)
  expect(window.take(1100).retryAfterMs).toBeNull()
})
