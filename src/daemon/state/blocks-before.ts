import type { ErrorCode } from '../../protocol/errors.ts'
import type { Block, Remedy } from '../../remote/host.ts'
import type { Clock } from '../../sync/clock.ts'
import type { Synced } from '../../synced/synced.ts'

/** What outlives a process. A key is mended by whoever starts albumd again. */
const REMEMBERED = new Map<string, Remedy>([
  ['PLAN_NOT_SUPPORTED', 'plan'],
  ['STORAGE_LIMIT_REACHED', 'storage'],
] satisfies [ErrorCode, Remedy][])

/**
 * The endpoints that the host had shut for the last process: they stay shut until it is time to ask again, so that
 * starting albumd over and over asks no more than one that stays. Another plan in the config has other endpoints.
 */
export function blocksBefore({ account, meta }: Synced, plan: string, clock: Clock): Block[] {
  if (meta.get('plan') !== plan) return []
  return account.blocks().flatMap(({ endpoint, code, message, said_at }) => {
    const remedy = REMEMBERED.get(code)
    const age = clock.wall() - said_at
    // A clock that was set back would keep it shut for long.
    if (!remedy || age < 0) return []
    return { endpoint: endpoint as Block['endpoint'], remedy, code, message, since: clock.monotonic() - age }
  })
}
