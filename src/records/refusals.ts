import type { Tx } from '../synced/synced.ts'
import type { FailureRow } from '../synced/tables/failures.ts'
import type { FileKey } from '../synced/tables/files.ts'
import { codeOf } from '../words/reasons.ts'

/**
 * Pictures with the same answer are probably refused for the same reason: by the upload nodes, or because of their mirror's
 * album. Null: the failure is of this picture alone.
 */
export function refusalOf({ folders }: Pick<Tx, 'folders'>, { folder, message }: FailureRow): string | null {
  const code = codeOf(message)
  if (code === 'album_not_permitted' || code === 'listing_refused')
    return `${code} ${folders.byId(folder)!.mirror}`
  return code === 'refused_by_node' ? code : null
}

/** The reason for which a picture was refused may be gone, so all others that were refused alike are tried again now. */
export function askAgainLike(tx: Tx, { folder, name }: FileKey, now: number): void {
  const failure = tx.failures.of(folder, name)
  const why = failure ? refusalOf(tx, failure) : null
  if (why === null) return
  for (const other of tx.failures.later(now).filter(other => refusalOf(tx, other) === why))
    tx.failures.postpone(now, other.folder, other.name)
}
