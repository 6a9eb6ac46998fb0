import type { EngineContext } from './context.ts'
import { clockOffset } from './file-ages.ts'

/**
 * How long albumd has run. Belongs into the commit of whatever is due at a running time, because a grace must not grow by
 * a crash: after 50 minutes of a pass that was killed, running time would begin again where the pass before had ended,
 * and a grace of an hour would take 50 minutes longer.
 */
export function recordRunning({ synced, running }: Pick<EngineContext, 'synced' | 'running'>): void {
  synced.meta.set('running_ms', String(running()))
}

/** What the next process needs to know of the clocks. Belongs into a commit. */
export function recordTime(context: Pick<EngineContext, 'synced' | 'clock' | 'running'>): void {
  const { synced, clock } = context
  synced.mirrors.endPhases()
  recordRunning(context)
  synced.meta.set('clock_offset', String(clockOffset(clock)))
}
