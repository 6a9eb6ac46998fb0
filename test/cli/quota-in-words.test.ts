import { expect, it } from 'vitest'
import { quotaInWords } from '../../src/cli/words/status-in-words.ts'
import type { Status } from '../../src/daemon/report/status.ts'
import { localTime } from '../../src/words/local-time.ts'

const quota: Status['quota'] = {
  plan: 'professional',
  limit: 5000,
  used: 812,
  reserve: 500,
  only_reserve_left: false,
  exhausted: false,
  used_up_early: false,
  resumes_at: null,
  next_probe_at: null,
  reset: { known: 'no' },
}
const backlog: Status['backlog'] = { pictures: 0, bytes: 0, days: 0, per_day: 4500, done_by: null }

const words = (changes: Partial<Status['quota']>, waits: Partial<Status['backlog']> = {}) =>
  quotaInWords({ quota: { ...quota, ...changes }, backlog: { ...backlog, ...waits } })

it('says what is used', () => {
  expect(words({})).toEqual(['quota   812 of 5,000 today (professional)'])
})

it('says when a quota that is used up comes back, or when the host is asked again', () => {
  const used = { used: 5000, exhausted: true, next_probe_at: '2026-11-21T16:15:00.000Z' }
  expect(words(used)).toEqual([
    `quota   5,000 of 5,000 today (professional), used up; the host is asked again at ${localTime(used.next_probe_at)}`,
  ])
  const reset = { known: 'learned', from: '15:59:00', to: '16:00:03', days: 4 } as const
  expect(words({ ...used, resumes_at: '2026-11-21T16:00:03.000Z', reset })).toEqual([
    `quota   5,000 of 5,000 today (professional), used up until ${localTime('2026-11-21T16:00:03.000Z')} (learned in 4 days)`,
  ])
})

it('says what to do where the host has less a day than the config has it', () => {
  const early = { used: 60, exhausted: true, used_up_early: true }
  expect(words(early)[1]).toMatch(/^ +the host said so long before 5,000: .*host\.daily_quota/)
})

it('says how long a backlog takes, and what is kept from it', () => {
  expect(words({ used: 4500, only_reserve_left: true }, { pictures: 12_345, days: 3 })).toEqual([
    'quota   4,500 of 5,000 today (professional), the rest is kept for new pictures',
    'backlog 12,345 pictures, about 3 days at 4,500 a day',
  ])
})
