import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { cronSchedule, dueMs } from '../../../src/daemon/loop/schedule.ts'
import { systemClock } from '../../../src/protocol/clock.ts'
import { openDatabase } from '../../../src/synced/database.ts'
import { openSynced } from '../../../src/synced/synced.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

beforeEach(() => {
  vi.useFakeTimers({ now: new Date(2026, 10, 21, 12, 0) })
})
afterEach(() => {
  vi.useRealTimers()
})

/** A schedule that is attended as soon as it is due. `pass` answers when it was due, in hours after noon. */
function start(expression: string, kept: number | null = null) {
  const noon = new Date(2026, 10, 21, 12, 0).getTime()
  const schedule = cronSchedule(expression, kept)
  const isDue = () => schedule.at() <= Date.now()
  isDue()
  const pass = (ms: number) => {
    const done: number[] = []
    for (const end = Date.now() + ms; Date.now() <= end; vi.setSystemTime(Date.now() + MINUTE)) {
      if (!isDue()) continue
      done.push((Date.now() - noon) / HOUR)
      schedule.attended()
    }
    return done
  }
  return { kept: schedule.at(), isDue, pass }
}

describe('a schedule', () => {
  it('is due at the times of its expression, and not when it starts for the first time', () => {
    expect(start('0 */6 * * *').pass(DAY)).toEqual([6, 12, 18, 24])
  })

  it('is due once for times that were missed while albumd did not run or the machine slept', () => {
    const { kept } = start('30 3 * * *')
    vi.setSystemTime(Date.now() + 5 * DAY)
    expect(start('30 3 * * *', kept).pass(DAY)).toEqual([5 * 24, 5 * 24 + 15.5])
  })

  it('stays due until attended, also over restarts', () => {
    const { kept } = start('0 13 * * *')
    vi.setSystemTime(Date.now() + 2 * HOUR)
    for (let n = 0; n < 2; n++) expect(start('0 13 * * *', kept).isDue()).toBe(true)
  })

  it('is due in time after a clock that was a year ahead is set back', () => {
    expect(start('0 13 * * *', Date.now() + 365 * DAY).pass(3 * DAY)).toEqual([1, 25, 49])
  })
})

it('an upload in doubt is due when its credential has ended, also while an older one stays in doubt', () => {
  const db = openDatabase(':memory:')
  const synced = openSynced(db)
  let now = 0
  const options = {
    config: { mirrors: [], uploads: {} },
    synced,
    clock: { ...systemClock, monotonic: () => now },
    running: () => 0,
    credentialLifetimeMs: 1000,
    rescan: { at: () => Number.POSITIVE_INFINITY, attended() {} },
  }
  // The first ends at 2200, the second at 6200.
  db.exec(`INSERT INTO journal (kind, since, sent_at) VALUES ('upload', 0, 0), ('upload', 0, 4000)`)
  expect(dueMs(options)).toBe(2201)
  now = 5000
  expect(dueMs(options)).toBe(1201)
  now = 7000
  expect(dueMs(options)).toBe(MINUTE)
  expect(dueMs(options, 1000)).toBe(0)
  synced.close()
})
