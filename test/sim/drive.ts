import type { Life } from './life.ts'
import type { Oracle } from './oracle.ts'
import { quiet, type Timeline } from './virtual-clock.ts'

/**
 * Lets time pass until the work of a process is done, the process has ended, or an invariant is violated. Answers what
 * came of it, or null.
 */
export async function drive<T>(
  work: Promise<T>,
  life: Life,
  time: Timeline,
  oracle: Oracle,
): Promise<T | null> {
  let over = false
  let result: T | null = null
  work.then(
    value => {
      result = value
      over = true
    },
    error => {
      over = true
      // Whoever is dead may stumble over the records of those who come after.
      if (!life.dead) oracle.report('never-throws', String((error as Error).stack ?? error))
    },
  )
  for (;;) {
    await quiet()
    if (over || life.dead || oracle.violation) return result
    if (time.next() === null) {
      oracle.report('converges', 'a pass waits for ever')
      return null
    }
    time.advance()
  }
}
