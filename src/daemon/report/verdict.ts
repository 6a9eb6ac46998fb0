import type { HostFailure } from '../../remote/host.ts'
import type { Status } from './status.ts'

/**
 * The result of a pass. in_sync: disk and host agree. left: something could not be done yet. refused: the host refuses the key,
 * or everything that albumd needs.
 */
export type Verdict = 'in_sync' | 'left' | 'refused'

/** `stopped`: the host's refusals that ended uploads or deletions early. */
export function verdictOn(status: Pick<Status, 'mirrors'>, stopped: readonly HostFailure[]): Verdict {
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

/** With a plan that has neither uploads nor listings, albumd can do nothing. When one of the two is there, the other is only blocked. */
function planIsRefused(stopped: readonly HostFailure[]): boolean {
  const refused = new Set(stopped.filter(({ remedy }) => remedy === 'plan').map(({ endpoint }) => endpoint))
  return refused.has('upload') && refused.has('list')
}
