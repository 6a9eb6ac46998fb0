import type { Synced, Tx } from '../synced/synced.ts'
import type { Clock } from './clock.ts'
import { mayArriveFor } from './credential-life.ts'
import type { AlbumContents } from './listing/album-contents.ts'

export interface LostRecordsParts {
  synced: Synced
  clock: Clock
  credentialLifetimeMs: number
  contents: AlbumContents
}

/**
 * Records were lost or are old, and whoever kept them did not settle all that it had begun: what they knew to be under
 * way may still arrive, and nobody would know it for what it is. `monotonic`: milliseconds of this boot.
 */
export function noteLost({ meta }: Pick<Tx, 'meta'>, monotonic: number): void {
  meta.set('lost_at', String(Math.round(monotonic)))
}

/** When records were lost whose work may still arrive, in monotonic milliseconds; null where all has arrived. */
export function lostAt({ meta }: Pick<Synced, 'meta'>): number | null {
  const at = meta.get('lost_at')
  return at === null ? null : Number(at)
}

/** Once nothing can arrive any more, albums are looked at anew: what came late is seen then. */
export async function endLoss(parts: LostRecordsParts): Promise<void> {
  const { synced, clock, credentialLifetimeMs, contents } = parts
  const at = lostAt(synced)
  if (at === null || clock.monotonic() - at <= mayArriveFor(credentialLifetimeMs)) return
  contents.forgetAll()
  await synced.commit(tx => tx.meta.clear('lost_at'))
}
