import type { Clock } from '../../sync/clock.ts'
import { StateError } from '../../synced/state-error.ts'

/** Errors that may pass while albumd waits. A damaged state is set aside when it is opened again. */
const PASSING: ReadonlySet<string> = new Set([
  'STATE_FULL',
  'STATE_BUSY',
  'STATE_UNWRITABLE',
  'STATE_DAMAGED',
  'STATE_REPLACED',
])
/** Errors that mean a wrong config at the start, but a failing disk once the state has worked. */
const PASSING_LATER: ReadonlySet<string> = new Set(['STATE_UNREADABLE'])

const FIRST_MS = 1000
const LAST_MS = 60_000

/**
 * Does the work, and does it again when the state failed and may work later: after a second, then with growing pauses
 * of at most a minute. `work` calls `allIsWell`. `tell` is called once for each kind of error, and with null when the
 * error is over. Resolves when the work does, or when `stop` is aborted during a pause. Throws every other error.
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
        tell(`${error.message}. Nothing is sent or deleted meanwhile; albumd tries again by itself`)
      said = error.code
    }
    if (!stop.aborted) await clock.sleep(waitMs, stop)
    if (stop.aborted) return
    waitMs = Math.min(waitMs * 2, LAST_MS)
  }
}
