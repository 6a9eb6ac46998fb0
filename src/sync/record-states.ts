import type { Block, HostFailure, ImageHost } from '../remote/host.ts'
import type { Synced } from '../synced/synced.ts'
import type { Clock } from './clock.ts'
import { forgetOldDeletions } from './deletions/hold.ts'
import { clockOffset } from './file-ages.ts'

export interface StateParts {
  synced: Synced
  host: Pick<ImageHost, 'blocks'>
  clock: Clock
  /** Running time in milliseconds. */
  running: () => number
}

/**
 * How long albumd has run: after a crash a grace would else begin when the last pass had ended, and take as much longer.
 * Belongs into the commit of what is due at such a time.
 */
export function recordRunning({ synced, running }: Pick<StateParts, 'synced' | 'running'>): void {
  synced.meta.set('running_ms', String(running()))
}

/** When it was, for the next process. Belongs into a commit. */
export function recordTime(parts: Omit<StateParts, 'host'>): void {
  const { synced, clock } = parts
  synced.mirrors.endPhases()
  recordRunning(parts)
  synced.meta.set('clock_offset', String(clockOffset(clock)))
}

/** States of the account outlive the process, for `status`. `stopped`: what ended its work. Belongs into a commit. */
export function recordStates(parts: StateParts, stopped: readonly HostFailure[]): void {
  const { synced, host, clock, running } = parts
  const now = clock.wall()
  const saidAt = (block: Block) => ({ ...block, said_at: now - (clock.monotonic() - block.since) })
  const said = stopped.filter(({ remedy, repeated }) => remedy !== 'cancelled' && !repeated)
  // Not all that the host said of the account ended something, and what was not asked again is as it was.
  const all = [
    ...host.blocks('untried').map(saidAt),
    ...said.map(failure => ({ ...failure, said_at: now })),
    ...host.blocks().map(saidAt),
  ]
  recordTime(parts)
  forgetOldDeletions(synced, running())
  const told = all.filter(({ remedy }) => remedy !== 'quota')
  // Of one endpoint the last counts.
  const blocks = [...new Map(told.map(block => [block.endpoint, block])).values()]
  synced.account.clearBlocks(blocks.map(({ endpoint }) => endpoint))
  for (const { endpoint, code, message, said_at } of blocks)
    synced.account.block({
      endpoint,
      code,
      message,
      since: Math.round(said_at),
      said_at: Math.round(said_at),
    })
}
