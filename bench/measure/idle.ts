import { setTimeout as sleep } from 'node:timers/promises'
import { usageOf } from './process-usage.ts'

/** Of a processor's time. */
const LITTLE = 0.01
const WINDOW_MS = 2000

/** Resolves once a process has rested for some seconds. Throws where it works for longer than ten minutes. */
export async function untilIdle(pid: number): Promise<void> {
  const end = performance.now() + 600_000
  for (let before = usageOf(pid).cpuSeconds; performance.now() < end; ) {
    await sleep(WINDOW_MS)
    const now = usageOf(pid).cpuSeconds
    if ((now - before) * 1000 <= LITTLE * WINDOW_MS) return
    before = now
  }
  throw new Error(`the process ${pid} does not come to rest`)
}

/** The part of a processor's time that each process takes while nothing happens. */
export async function idleShares(pids: readonly number[], seconds: number): Promise<number[]> {
  const before = pids.map(pid => usageOf(pid).cpuSeconds)
  await sleep(seconds * 1000)
  return pids.map((pid, at) => (usageOf(pid).cpuSeconds - before[at]!) / seconds)
}
