import { expect, it } from 'vitest'
import { QuotaLedger } from '../../../src/sync/quota/quota-ledger.ts'
import { said } from '../../../src/words/reasons.ts'
import { openStateKit } from '../engine/state-kit.ts'
import { Random } from '../histories/random.ts'
import { allowanceOf, PLAIN_SETTING } from '../histories/setting.ts'
import { QuotaJudge } from './quota-judge.ts'

const DAY_MS = 86_400_000
const FAILURE = {
  remedy: 'quota',
  endpoint: 'upload',
  code: 'DAILY_LIMIT_REACHED',
  message: said(''),
} as const

const kit = openStateKit()

/** Days of an account whose quota never suffices, a minute or so between two passes. */
function days(seed: number, hurry = 0): string[] {
  kit.clear()
  const { synced } = kit
  const random = new Random(seed)
  let now = 1_795_262_400_000
  const clock = { wall: () => now, monotonic: () => now, sleep: async () => {} }
  const allowance = { ...allowanceOf(PLAIN_SETTING), limit: 2 }
  const violations: string[] = []
  const judge = new QuotaJudge({ wall: clock.wall, now: clock.wall, allowance }, (_, what) =>
    violations.push(what),
  )
  const begins = random.below(DAY_MS)
  const used = new Map<number, number>()
  for (const end = now + 8 * DAY_MS; now < end; now += 20_000 + random.below(90_000)) {
    const ledger = new QuotaLedger({ synced, clock, allowance })
    const { exhausted } = ledger.read()
    if (exhausted && now < exhausted.ask - hurry) continue
    if (exhausted) ledger.probe()
    const request = judge.asked()
    const today = Math.floor((now - begins) / DAY_MS)
    const before = used.get(today) ?? 0
    if (before < 2) {
      used.set(today, before + 1)
      synced.commitNow(tx => ledger.grant(tx))
      judge.granted(request)
    } else {
      synced.commitNow(tx => ledger.refuse(tx, FAILURE))
      judge.refused(request)
    }
  }
  return violations
}

it('a ledger asks no more than it may', () => {
  for (let seed = 0; seed < 12; seed++) expect(days(seed)).toEqual([])
})

it('who asks two minutes too soon is noticed', () => {
  expect(days(1, 120_000)).not.toEqual([])
})

it('a process that was killed as it heard of it may have written that down, or not', () => {
  const violations: string[] = []
  const midnight = 20_779 * DAY_MS
  let now = midnight - 10_000
  const allowance = { ...allowanceOf({ ...PLAIN_SETTING, limit: 4 }), probeEveryMs: 900_000 }
  const judge = new QuotaJudge({ wall: () => now, now: () => now, allowance }, (_, what) =>
    violations.push(what),
  )
  judge.refused(judge.asked())
  judge.processEnded()
  now = midnight + 60_000
  judge.refused(judge.asked())
  now += 1_000_000
  judge.asked()
  expect(violations).toEqual([])
  judge.refused(judge.asked())
  now += 800_000
  judge.asked()
  expect(violations).toHaveLength(1)
})
