import { describe, expect, it } from 'vitest'
import { beginningAfter, DAY_MS, daysFrom, daysOf } from '../../../src/protocol/days.ts'
import { afterReset, type LearnedReset, learnReset } from '../../../src/sync/quota/quota-day.ts'

const isoOf = (ms: number) => new Date(ms).toISOString()

it('a day begins at its time in its time zone', () => {
  const days = daysOf({ minutes: 90, time_zone: 'Asia/Shanghai' })
  expect(isoOf(days(Date.parse('2026-11-21T17:29:59.999Z')))).toBe('2026-11-20T17:30:00.000Z')
  expect(isoOf(days(Date.parse('2026-11-21T17:30:00Z')))).toBe('2026-11-21T17:30:00.000Z')
  expect(isoOf(beginningAfter(days, Date.parse('2026-11-21T17:30:00Z')))).toBe('2026-11-22T17:30:00.000Z')
})

it('a day begins at midnight there on the days when the clocks change', () => {
  const days = daysOf({ minutes: 0, time_zone: 'Europe/Berlin' })
  for (const [moment, began, next] of [
    ['2026-03-29T12:00:00Z', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
    ['2026-03-29T21:59:59Z', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
    ['2026-10-25T12:00:00Z', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
    ['2026-10-25T22:59:59Z', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
  ] as const) {
    expect(isoOf(days(Date.parse(moment)))).toBe(began)
    expect(isoOf(beginningAfter(days, Date.parse(moment)))).toBe(next)
  }
})

it('a day begins at half past three by the clocks there, also in the night in which these change', () => {
  const days = daysOf({ minutes: 210, time_zone: 'Europe/Berlin' })
  for (const [moment, began] of [
    ['2026-03-28T12:00:00Z', '2026-03-28T02:30:00.000Z'],
    ['2026-03-29T12:00:00Z', '2026-03-29T01:30:00.000Z'],
    ['2026-10-24T12:00:00Z', '2026-10-24T01:30:00.000Z'],
    ['2026-10-25T12:00:00Z', '2026-10-25T02:30:00.000Z'],
  ] as const)
    expect(isoOf(days(Date.parse(moment)))).toBe(began)
})

it('days of 24 hours go on from one of their beginnings, before it and after it', () => {
  const moment = Date.parse('2026-11-21T16:00:03.500Z')
  const days = daysFrom(moment)
  expect(days(moment)).toBe(moment)
  expect(days(moment - 1)).toBe(moment - DAY_MS)
  expect(beginningAfter(days, moment + 5)).toBe(moment + DAY_MS)
})

const MINUTE = 60_000
const at = (time: string, day = 21) => Date.parse(`2026-11-${day}T${time}Z`)
const into = (time: string) => Date.parse(`1970-01-01T${time}Z`)
const iso = (ms: number) => new Date(ms).toISOString().slice(8, 19)

describe('what is learned of when a day begins', () => {
  it('is bracketed by the last refusal and the first success', () => {
    const learned = learnReset(null, at('15:50:00'), at('16:05:00'))
    expect(learned).toEqual({ from: into('15:50:00'), to: into('16:05:00'), days: 1 })
  })

  it('narrows over the days, across midnight too', () => {
    const first = learnReset(null, at('23:50:00'), at('00:05:00', 22))
    expect(first).toEqual({ from: into('23:50:00'), to: DAY_MS + 5 * MINUTE, days: 1 })
    const second = learnReset(first, at('23:58:00', 22), at('00:10:00', 23))
    expect(second).toEqual({ from: into('23:58:00'), to: DAY_MS + 5 * MINUTE, days: 2 })
    // Seen from the other side of midnight.
    const third = learnReset(second, at('00:01:00', 24), at('00:04:00', 24))
    expect(third).toEqual({ from: DAY_MS + MINUTE, to: DAY_MS + 4 * MINUTE, days: 3 })
  })

  it('is confirmed by a refusal of many hours before', () => {
    const known: LearnedReset = { from: into('23:50:00'), to: DAY_MS + 3500, days: 4 }
    expect(learnReset(known, at('08:10:00'), at('00:00:04', 22))).toEqual({ ...known, days: 5 })
  })

  it('begins anew where it contradicts what was known', () => {
    const known: LearnedReset = { from: into('15:50:00'), to: into('16:05:00'), days: 9 }
    expect(learnReset(known, at('03:00:00'), at('03:15:00'))).toEqual({
      from: into('03:00:00'),
      to: into('03:15:00'),
      days: 1,
    })
    expect(learnReset(known, at('17:00:00'), at('08:00:00', 22))).toBeNull()
  })

  it('says nothing after a day or more, nor backwards', () => {
    const known: LearnedReset = { from: 1, to: 2, days: 1 }
    expect(learnReset(known, at('10:00:00'), at('10:00:00', 22))).toBe(known)
    expect(learnReset(known, at('10:00:00'), at('09:00:00'))).toBe(known)
    expect(learnReset(null, at('01:00:00'), at('20:00:00'))).toBeNull()
  })
})

describe('the next request after an exhaustion', () => {
  const ask = (known: LearnedReset, exhausted: number, said = exhausted) => {
    const after = afterReset(known, exhausted, said)
    return after && iso(after.ask)
  }

  it('comes just after the roundest moment that is possible', () => {
    const known = { from: into('15:50:00'), to: into('16:05:00'), days: 1 }
    expect(ask(known, at('08:00:00'))).toBe('21T16:00:03')
    expect(ask(known, at('20:00:00'))).toBe('22T16:00:03')
    expect(ask({ ...known, from: into('16:02:00'), to: into('16:17:00') }, at('08:00:00'))).toBe(
      '21T16:15:03',
    )
  })

  it('comes in the middle where no moment is round, and at the end where the bracket is a minute', () => {
    expect(ask({ from: into('16:01:00'), to: into('16:05:00'), days: 2 }, at('08:00:00'))).toBe('21T16:03:00')
    expect(ask({ from: into('16:04:30'), to: into('16:05:00'), days: 2 }, at('08:00:00'))).toBe('21T16:05:00')
  })

  it('goes on behind each refusal, and ends where the moment has passed', () => {
    const known = { from: into('15:50:00'), to: into('16:05:00'), days: 1 }
    expect(ask(known, at('08:00:00'), at('16:00:03'))).toBe('21T16:02:31')
    expect(ask(known, at('08:00:00'), at('16:02:31'))).toBe('21T16:03:45')
    expect(ask(known, at('08:00:00'), at('16:05:00'))).toBeNull()
  })
})

it('a host is asked ever closer to the beginning of its day, a few times a day, until it is known to a minute', () => {
  // A day that begins at an odd time, asked about every 15 minutes while nothing is known.
  const begins = into('13:37:21')
  let known: LearnedReset | null = null
  const probes: number[] = []
  for (let day = 0; day < 14; day++) {
    const exhausted = day * DAY_MS + into('14:00:00')
    const reset = (day + 1) * DAY_MS + begins
    let said = exhausted
    for (let asked = 1; ; asked++) {
      const now: number = (known && afterReset(known, exhausted, said)?.ask) ?? said + 15 * MINUTE
      if (now >= reset) {
        known = learnReset(known, said, now)
        probes.push(asked)
        break
      }
      said = now
    }
  }
  expect(probes[0]).toBe(95)
  expect(Math.max(...probes.slice(1))).toBeLessThanOrEqual(4)
  expect(probes.at(-1)).toBe(1)
  expect(known!.to - known!.from).toBeLessThanOrEqual(MINUTE)
  expect(begins).toBeGreaterThan(known!.from)
  expect(begins).toBeLessThanOrEqual(known!.to)
})
