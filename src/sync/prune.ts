import type { Synced } from '../synced/synced.ts'
import type { Clock } from './clock.ts'

const HOUR_MS = 3_600_000
/** How long the history of a path is kept, and the ids of deleted images: by then no host lists them any more. */
const KEPT_MS = 90 * 24 * HOUR_MS
/** Rows and pages of one commit: uploads wait for it. */
const ROWS = 500
const PAGES = 256
/** How many commits one pass has for it: new pictures wait meanwhile. The next hour goes on. */
const COMMITS = 20

/** Whether it is time to look for what may be forgotten, which costs a count of all rows. Belongs into a commit. */
export function isPruningDue({ meta }: Synced, now: number): boolean {
  const before = Number(meta.get('pruned_at') ?? Number.NaN)
  // A clock that was set back makes a moment of the future.
  if (before <= now && now - before < HOUR_MS) return false
  meta.set('pruned_at', String(now))
  return true
}

/**
 * Forgets what history is too old or too much, and what was deleted long ago, and gives free room of the database back
 * to the disk, in steps that hold up nobody.
 */
export async function prune(
  { synced, clock }: { synced: Synced; clock: Clock },
  stop: AbortSignal,
): Promise<void> {
  const { history, deleted, space, commit } = synced
  const before = clock.wall() - KEPT_MS
  let excess = history.excess()
  let old = history.isFrom(before)
  let longGone = deleted.isFrom(before)
  for (let commits = 0; commits < COMMITS && !stop.aborted; commits++) {
    if (old) old = (await commit(() => history.dropBefore(before, ROWS))) === ROWS
    else if (excess > 0) {
      await commit(() => history.dropOldest(Math.min(ROWS, excess)))
      excess -= ROWS
    } else if (longGone) longGone = (await commit(() => deleted.dropBefore(before, ROWS))) === ROWS
    else if (space.isTooMuch()) await commit(() => space.giveBack(PAGES))
    else return
  }
}
