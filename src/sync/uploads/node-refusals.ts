import type { Tx } from '../../synced/synced.ts'
import type { FailureRow } from '../../synced/tables/failures.ts'
import type { FileKey } from '../../synced/tables/files.ts'
import { codeOf } from '../../words/reasons.ts'

/**
 * Of the pictures that an upload node has refused, so many are tried again at a time. The node probably refuses all of them
 * for the same reason, and each try costs quota.
 */
const RETRIES_MOST = 10
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** How long a picture waits after an upload node refused it. `attempts`: how often its upload has failed before. */
export function afterNodeMs(attempts: number): number {
  return [HOUR_MS, 4 * HOUR_MS][attempts] ?? DAY_MS
}

/**
 * The failures that are tried again now. `due`: the failures whose time has come, those with the fewest tries first. Of the
 * pictures that a node has refused, only the first `RETRIES_MOST` are tried again. The others wait for another day. `now`:
 * milliseconds since 1970.
 */
export function withoutTooManyRefused(tx: Tx, due: readonly FailureRow[], now: number): FailureRow[] {
  const refused = due.filter(isByNode)
  const postponed = new Set(refused.slice(RETRIES_MOST))
  for (const { folder, name } of postponed) tx.failures.postpone(now + DAY_MS, folder, name)
  return due.filter(failure => !postponed.has(failure))
}

/**
 * Notes that an upload node took a file's picture. When a node had refused this picture before, the reason may be gone, so
 * all other refused pictures are tried again now.
 */
export function nodeTakes(tx: Tx, { folder, name }: FileKey, now: number): void {
  const failure = tx.failures.of(folder, name)
  if (!failure || !isByNode(failure)) return
  for (const other of tx.failures.later(now).filter(isByNode))
    tx.failures.postpone(now, other.folder, other.name)
}

function isByNode({ message }: FailureRow): boolean {
  return codeOf(message) === 'refused_by_node'
}
