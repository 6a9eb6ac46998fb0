import type { Tx } from '../synced/synced.ts'
import type { FailureRow } from '../synced/tables/failures.ts'
import type { FileKey } from '../synced/tables/files.ts'
import { codeOf, type ReasonCode } from '../words/reasons.ts'

/** When a picture was refused for one of these reasons, other pictures are probably refused for the same reason. */
const ALIKE: ReadonlySet<ReasonCode> = new Set(['refused_by_node', 'album_not_permitted'])

/** The reason for which the picture is refused, when others are probably refused for the same reason. */
export function refusalOf({ message }: Pick<FailureRow, 'message'>): ReasonCode | null {
  const code = codeOf(message)
  return ALIKE.has(code) ? code : null
}

/** The reason for which a picture was refused may be gone, so all others that were refused alike are tried again now. */
export function askAgainLike({ failures }: Tx, { folder, name }: FileKey, now: number): void {
  const failure = failures.of(folder, name)
  const why = failure ? refusalOf(failure) : null
  if (why === null) return
  for (const other of failures.later(now).filter(other => refusalOf(other) === why))
    failures.postpone(now, other.folder, other.name)
}
