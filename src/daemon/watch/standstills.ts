import { type Clock, MINUTE_MS } from '../../protocol/clock.ts'

const TICK_MS = 1000
/** Events may have been lost in this time: the kernel keeps 16,384 of them, and a program makes as many in less. */
const STILL_MS = 3000
/** The look at everything may stall on the same slow disk. So one follows another after this time at the earliest. */
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
