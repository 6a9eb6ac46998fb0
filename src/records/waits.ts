import type { Millis } from '../protocol/clock.ts'
import type { Tx } from '../synced/synced.ts'
import type { FileKey } from '../synced/tables/files.ts'
import type { WaitRow } from '../synced/tables/waits.ts'
import type { Reason } from '../words/reasons.ts'

/** Each try works out the end of a wait anew. While the wait is the same, its end differs by less than this. */
const SAME_END_MS = 1000

/** A picture waits for something of its own. Nothing is written when the same wait is recorded already. */
export function waits(tx: Tx, { folder, name }: FileKey, wait: Omit<WaitRow, keyof FileKey>): void {
  const known = tx.waits.of({ folder, name })
  const isSame = known?.why === wait.why && Math.abs((known.until ?? 0) - (wait.until ?? 0)) < SAME_END_MS
  if (!isSame) tx.waits.put({ folder, name, ...wait })
}

/** A pass that might have deleted an image left it, for this reason. */
export function stayed(tx: Tx, image: number, why: Reason, now: Millis): void {
  tx.escrow.stay({ image, why, why_at: now })
}
