import fc from 'fast-check'
import { expect, it } from 'vitest'
import { StoreClock } from '../../src/shared/store-clock.ts'

it('never lets a request leave before the time of its place, nor be told to have arrived too soon', () => {
  const wait = fc.nat(200)
  const ahead = fc.integer({ min: -1e9, max: 1e9 })
  fc.assert(
    fc.property(
      ahead,
      fc.array(fc.tuple(wait, wait, wait), { minLength: 1, maxLength: 20 }),
      (ahead, asked) => {
        const clock = new StoreClock()
        let now = 0
        for (const [pause, there, back] of asked) {
          const sent = now + pause
          now = sent + there + back
          clock.learn(sent, now, sent + there + ahead)
          expect(clock.toHere(now + ahead)).toBeGreaterThanOrEqual(now)
          expect(clock.toStore(now)).toBeGreaterThanOrEqual(now + ahead)
        }
      },
    ),
  )
})
