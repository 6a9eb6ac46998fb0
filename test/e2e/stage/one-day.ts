import { setTimeout as sleep } from 'node:timers/promises'

const DAY = 86_400_000
/** Milliseconds. Longer than such a test takes, on a busy machine too. */
const TEST = 60_000

/** For tests that begin with `oneDay`. */
export const inOneDay = { timeout: 3 * TEST }

/** Waits where UTC's day is about to end: what is counted by the day would begin anew in the middle of a test. */
export async function oneDay(): Promise<void> {
  const left = DAY - (Date.now() % DAY)
  if (left < TEST) await sleep(left + 1)
}
