import { held } from '../../records/escrow.ts'
import type { Synced, Tx } from '../../synced/synced.ts'
import type { EscrowWeight } from '../../synced/tables/escrow.ts'
import type { Reason } from '../../words/reasons.ts'
import type { Tell } from '../pass-events.ts'

export interface HoldPolicy {
  /** A fraction of the mirror's pictures. */
  hold_above: number
  hold_min: number
}

/** Running time, in milliseconds, over which a trickle counts as much as a burst. */
export const WINDOW_MS = 24 * 3_600_000

/** Whether so much is to go that a person must say so. Counts what went within the window with what is to go. */
export function isTooMuch({ pending, deleted, in_use }: EscrowWeight, policy: HoldPolicy): boolean {
  const going = pending + deleted
  return pending > 0 && going > policy.hold_min && going > policy.hold_above * (in_use + going)
}

/**
 * Weighs what a mirror is about to give up. Over both counts everything pending is held, not the excess: nobody can
 * tell which of them were meant. `running`: running time in milliseconds. `now`:
 * milliseconds since 1970.
 */
export async function weighDeletions(
  synced: Synced,
  tell: Tell,
  mirror: { id: number; folder: string },
  policy: HoldPolicy,
  running: number,
  now: number,
): Promise<void> {
  const { escrow } = synced
  const weight = escrow.weight(mirror.id, running - WINDOW_MS)
  if (!isTooMuch(weight, policy)) return
  const waiting = await synced.commit(tx => held(tx, mirror.id, now))
  if (waiting > 0)
    tell({
      event: 'deletions_held',
      mirror: mirror.folder,
      images: weight.pending,
      pictures: weight.in_use,
    })
}

/** What no window reaches any more is forgotten. */
export function forgetOldDeletions({ escrow }: Tx, running: number): void {
  escrow.prune(running - WINDOW_MS)
}

/**
 * Why nothing of any mirror may be deleted now, or null: while one of them is in doubt, a picture of another may have
 * gone there.
 */
export function doubtAbout({ mirrors }: Synced, policies: readonly { folder: string }[]): Reason | null {
  for (const { folder } of policies) {
    const guard = mirrors.of(folder)?.guard
    if (guard != null) return guard
  }
  return null
}
