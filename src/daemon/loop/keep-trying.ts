import type { Clock } from '../../sync/clock.ts'
import { StateError } from '../../synced/state-error.ts'

/** What may pass while albumd waits. Damage is set aside by the next opening. */
const PASSING: ReadonlySet<string> = new Set([
  'STATE_FULL',
  'STATE_BUSY',
  'STATE_UNWRITABLE',
  'STATE_DAMAGED',
  'STATE_REPLACED',
])
/** What speaks of a wrong config at first, and of the disk once it worked. */
const PASSING_LATER: ReadonlySet<string> = new Set(['STATE_UNREADABLE'])

const FIRST_MS = 1000
const LAST_MS = 60_000

/**
 * Does the work, and again where the state failed and may work later: after a second, then less and less often, at
 * least each minute. `work` says when all is well. `tell` is told once of each trouble, and null when it is over. Ends
 * when the work does, or when it waits and is told to stop.
 */
export async function keepTrying(
  work: (allIsWell: () => void) => Promise<void>,
  tell: (trouble: string | null) => void,
  clock: Clock,
  stop: AbortSignal,
): Promise<void> {
  let waitMs = FIRST_MS
  let said: string | null = null
  let worked = false
  const allIsWell = () => {
    if (said !== null) tell(null)
    worked = true
    said = null
    waitMs = FIRST_MS
  }
  for (;;) {
    try {
      return await work(allIsWell)
    } catch (error) {
      if (!(error instanceof StateError)) throw error
      if (!PASSING.has(error.code) && !(worked && PASSING_LATER.has(error.code))) throw error
      if (said !== error.code)
        tell(`${error.message}. Nothing is sent or deleted meanwhile; it is tried again by itself`)
      said = error.code
    }
    if (!stop.aborted) await clock.sleep(waitMs, stop)
    if (stop.aborted) return
    waitMs = Math.min(waitMs * 2, LAST_MS)
  }
}
