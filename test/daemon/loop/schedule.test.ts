import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { CronSchedule, type KeptSlot, slotInMemory } from '../../../src/daemon/loop/schedule.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

beforeEach(() => {
  vi.useFakeTimers({ now: new Date(2026, 10, 21, 12, 0) })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Starts a schedule that is attended as soon as it is due. Answers these times, in hours after noon. */
function start(expression: string, kept: KeptSlot = slotInMemory()) {
  const noon = new Date(2026, 10, 21, 12, 0).getTime()
  const done: number[] = []
  const schedule = new CronSchedule(expression, kept)
  const look = () => {
    if (!schedule.isDue()) return
    done.push((Date.now() - noon) / HOUR)
    schedule.attended()
  }
  schedule.start(look)
  onTestFinished(() => schedule.stop())
  return { schedule, done, look, kept }
}

describe('a schedule', () => {
  it('is due at the times of its expression', async () => {
    const { done } = start('0 */6 * * *')
    await vi.advanceTimersByTimeAsync(DAY)
    expect(done).toEqual([6, 12, 18, 24])
  })

  it('is due once for times that were missed while albumd did not run', async () => {
    const { schedule, kept } = start('30 3 * * *')
    schedule.stop()
    vi.setSystemTime(Date.now() + 5 * DAY)
    const later = start('30 3 * * *', kept)
    expect(later.schedule.isDue()).toBe(true)
    later.look()
    await vi.advanceTimersByTimeAsync(DAY)
    expect(later.done).toEqual([5 * 24, 5 * 24 + 15.5])
  })

  it('is not due when it starts for the first time', async () => {
    expect(start('30 3 * * *').schedule.isDue()).toBe(false)
  })

  it('is due once for times that were missed while the machine slept, and wakes the loop', async () => {
    const { done } = start('*/10 * * * *')
    // While a machine sleeps its timers stand still, but its clock goes on.
    vi.setSystemTime(Date.now() + 8 * HOUR)
    await vi.advanceTimersByTimeAsync(10 * MINUTE)
    expect(done).toHaveLength(1)
  })

  it('stays due until attended, also over restarts', async () => {
    const { schedule, kept } = start('0 13 * * *')
    schedule.stop()
    vi.setSystemTime(Date.now() + 2 * HOUR)
    for (let n = 0; n < 2; n++) {
      const again = new CronSchedule('0 13 * * *', kept)
      again.start(() => {})
      expect(again.isDue()).toBe(true)
      again.stop()
    }
  })

  it('is due in time after a clock that was a year ahead is set back', async () => {
    const kept = slotInMemory()
    kept.set(Date.now() + 365 * DAY)
    const { done } = start('0 13 * * *', kept)
    await vi.advanceTimersByTimeAsync(3 * DAY)
    expect(done).toEqual([1, 25, 49])
  })
})
