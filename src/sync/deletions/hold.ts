import { held } from '../../records/escrow.ts'
import type { Synced, Tx } from '../../synced/synced.ts'
import type { EscrowWeight } from '../../synced/tables/escrow.ts'
import type { Reason } from '../../words/reasons.ts'
import type { Tell } from '../pass-events.ts'

export interface HoldPolicy {
  /** A fraction of the mirror's pictures, from 0 to 1. */
  hold_above: number
  hold_min: number
}

/**
 * The window, in milliseconds of running time. All deletions within the window count together, so that many small deletions
 * are held like a large one.
 */
export const WINDOW_MS = 24 * 3_600_000

/**
 * Whether so many images are to be deleted that a person must approve. Images that were deleted within the window count too.
 */
export function isTooMuch({ pending, deleted, in_use }: EscrowWeight, policy: HoldPolicy): boolean {
  const all = pending + deleted
  return pending > 0 && all > policy.hold_min && all > policy.hold_above * (in_use + all)
}

/**
 * Holds all deletions of a mirror that wait, when there are too many of them. All of them are held, and not only the excess,
 * because nobody can tell which of the deletions are intended. `running`: running time in milliseconds. `now`: milliseconds
 * since 1970.
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
  const weight = escrow.weight({ mirror: mirror.id, since: running - WINDOW_MS })
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

/** Forgets deletions that are older than the window. */
export function forgetOldDeletions({ escrow }: Tx, running: number): void {
  escrow.prune(running - WINDOW_MS)
}

/**
 * Why nothing of any mirror may be deleted now, or null. While the root of one mirror is in doubt, pictures of another
 * mirror may have moved to it.
 */
export function doubtAbout({ mirrors }: Synced, policies: readonly { folder: string }[]): Reason | null {
  for (const { folder } of policies) {
    const guard = mirrors.of(folder)?.guard
    if (guard != null) return guard
  }
  return null
}
