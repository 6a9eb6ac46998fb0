import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../src/remote/clock.ts'

export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => {}),
}
