import { expect, it } from 'vitest'
import { noticeStandstills } from '../../../src/daemon/watch/standstills.ts'
import type { Clock } from '../../../src/protocol/clock.ts'

/** How often it is told, of a process whose seconds take so long by the two clocks. */
async function told(seconds: readonly { steady: number; wall: number }[]): Promise<number[]> {
  const end = new AbortController()
  const at: number[] = []
  let [steady, wall, second] = [0, 0, 0]
  const clock: Clock = {
    monotonic: () => steady,
    wall: () => wall,
    async sleep() {
      const next = seconds[second++]
      if (!next) return end.abort()
      steady += next.steady
      wall += next.wall
    },
  }
  await noticeStandstills(clock, () => at.push(second), end.signal)
  return at
}

const usual = { steady: 1000, wall: 1000 }
const seconds = (count: number) => Array.from({ length: count }, () => usual)

it.each([
  ['nothing, where time goes its way', [...seconds(60), { steady: 2500, wall: 2500 }], []],
  ['a process that was stopped', [usual, { steady: 9000, wall: 9000 }, usual], [2]],
  [
    'a machine that slept, whose monotonic clock stood still too',
    [usual, { steady: 1000, wall: 3_600_000 }],
    [2],
  ],
  ['a clock that is set back: nothing', [usual, { steady: 1000, wall: -3_600_000 }, usual], []],
  [
    'a disk that stalls again and again, once in ten minutes',
    [...Array.from({ length: 10 }, () => ({ steady: 5000, wall: 5000 })), ...seconds(700)],
    [1, 565],
  ],
])('tells %s', async (_, seconds, expected) => {
  expect(await told(seconds)).toEqual(expected)
})
