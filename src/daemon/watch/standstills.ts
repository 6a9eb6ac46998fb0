import { type Clock, MINUTE_MS } from '../../protocol/clock.ts'

const TICK_MS = 1000
/** Within this time events may be lost: the kernel keeps 16,384 of them, and a program can make as many in less. */
const STILL_MS = 3000
/** The least time between two scans of everything, because such a scan may itself stall on a slow disk. */
const AGAIN_MS = 10 * MINUTE_MS

/** Tells when the process stood still: it was stopped, the machine slept (the monotonic clock stops with it), or a disk
 * stalled. */
export async function noticeStandstills(
  clock: Clock,
  stoodStill: () => void,
  end: AbortSignal,
): Promise<void> {
  let isDue = false
  for (let earliest = clock.monotonic(); !end.aborted; ) {
    const [steady, wall] = [clock.monotonic(), clock.wall()]
    await clock.sleep(TICK_MS, end)
    const now = clock.monotonic()
    isDue ||= Math.max(now - steady, clock.wall() - wall) - TICK_MS > STILL_MS
    if (!isDue || now < earliest || end.aborted) continue
    isDue = false
    earliest = now + AGAIN_MS
    stoodStill()
  }
}
