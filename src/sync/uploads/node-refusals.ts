import { NODE_REFUSES } from '../../remote/failures.ts'
import type { HostFailure } from '../../remote/host.ts'
import type { Synced, Tx } from '../../synced/synced.ts'
import type { BlockRow } from '../../synced/tables/account.ts'
import type { FailureRow } from '../../synced/tables/failures.ts'
import type { FileKey } from '../../synced/tables/files.ts'
import { codeOf } from '../../words/reasons.ts'
import type { EngineContext } from '../context.ts'
import { triedAgainAt } from '../quota/index.ts'

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

/** The trouble of the upload nodes, while it lasts. It ends when a node takes a picture, and when no picture is left to send. */
export function nodeTrouble({ account, files }: Pick<Synced, 'account' | 'files'>): BlockRow | undefined {
  return account.blocks().find(({ code }) => code === NODE_REFUSES && files.arePending(0))
}

/** Forgets the trouble of the upload nodes, so that pictures are sent again. */
export function forgetNodeTrouble({ account }: Tx): void {
  const others = account.blocks().filter(({ code }) => code !== NODE_REFUSES)
  account.clearBlocks(others.map(({ endpoint }) => endpoint))
}

/** The failure that ends uploads while the trouble lasts. */
export function asBefore({ code, message }: BlockRow): HostFailure {
  return { remedy: 'refused_by_node', endpoint: 'send', code, message, repeated: true }
}

/** Whether it is too early to ask the nodes again. */
export function mustRest(
  trouble: BlockRow,
  { clock, allowance }: Pick<EngineContext, 'clock' | 'allowance'>,
): boolean {
  const now = clock.wall()
  // After the clock was set back, `said_at` may lie in the future. Then the nodes are asked now.
  return trouble.said_at <= now && now < triedAgainAt(trouble, allowance)
}

/**
 * Notes that an upload node took a file's picture, so the nodes are in trouble no more. When a node had refused this picture
 * before, the reason may be gone, so all other refused pictures are tried again now.
 */
export function nodeTakes(tx: Tx, { folder, name }: FileKey, now: number): void {
  if (nodeTrouble(tx)) forgetNodeTrouble(tx)
  const failure = tx.failures.of(folder, name)
  if (!failure || !isByNode(failure)) return
  for (const other of tx.failures.later(now).filter(isByNode))
    tx.failures.postpone(now, other.folder, other.name)
}

function isByNode({ message }: FailureRow): boolean {
  return codeOf(message) === 'refused_by_node'
}
