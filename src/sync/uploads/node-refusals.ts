import { refusalOf } from '../../records/refusals.ts'
import { NODE_REFUSES } from '../../remote/failures.ts'
import type { HostFailure } from '../../remote/host.ts'
import type { Synced, Tx } from '../../synced/synced.ts'
import type { BlockRow } from '../../synced/tables/account.ts'
import type { FailureRow } from '../../synced/tables/failures.ts'
import type { EngineContext } from '../context.ts'
import { triedAgainAt } from '../quota/index.ts'

/**
 * Of the pictures that are refused alike, so many are tried again at a time. They are probably refused for the same reason,
 * each is read for its try, and each try at a node costs quota.
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
 * pictures that are refused alike, only `RETRIES_MOST` are tried again, of as many folders as there are, because an album may
 * be refused for good while another is taken by now. The others wait for another day. `now`: milliseconds since 1970.
 */
export function withoutTooManyRefused(tx: Tx, due: readonly FailureRow[], now: number): FailureRow[] {
  const refused = Map.groupBy(due, failure => refusalOf(tx, failure))
  refused.delete(null)
  const postponed = new Set([...refused.values()].flatMap(alike => inTurns(alike).slice(RETRIES_MOST)))
  for (const { folder, name } of postponed) tx.failures.postpone(now + DAY_MS, folder, name)
  return due.filter(failure => !postponed.has(failure))
}

/** The first failure of each folder, then the second of each folder, and so on. */
function inTurns(failures: readonly FailureRow[]): FailureRow[] {
  const folders = [...Map.groupBy(failures, ({ folder }) => folder).values()]
  return folders
    .flatMap(ofOne => [...ofOne.entries()])
    .sort(([one], [other]) => one - other)
    .map(([, failure]) => failure)
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
