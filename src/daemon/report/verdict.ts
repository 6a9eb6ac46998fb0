import type { HostFailure } from '../../remote/host.ts'
import type { Status } from './status.ts'

/** How a finished pass stands: everything agrees, something is left, or the host will not have us at all. */
export type Verdict = 'in_sync' | 'left' | 'refused'

/** `stopped`: what the host answered that ended work early. */
export function verdictOn(status: Status, stopped: readonly HostFailure[]): Verdict {
  if (stopped.some(({ remedy }) => remedy === 'key') || planIsRefused(stopped)) return 'refused'
  const left = status.mirrors.some(
    mirror =>
      mirror.state === 'guarded' ||
      mirror.pending_uploads +
        mirror.pending_deletions +
        mirror.held_deletions +
        mirror.failed +
        mirror.uncertain >
        0,
  )
  return left || stopped.some(({ remedy }) => remedy !== 'plan') ? 'left' : 'in_sync'
}

/** A plan without uploads and without listings has nothing for us. One endpoint alone is a block, not a refusal. */
function planIsRefused(stopped: readonly HostFailure[]): boolean {
  const refused = new Set(stopped.filter(({ remedy }) => remedy === 'plan').map(({ endpoint }) => endpoint))
  return refused.has('upload') && refused.has('list')
}
