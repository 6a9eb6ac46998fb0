import type { Synced, Tx } from '../synced/synced.ts'
import { mayArriveFor } from './clock.ts'
import type { EngineContext } from './context.ts'

/**
 * The state was lost, or replaced by an older copy. What the process before had sent may still arrive at the host, and no
 * record would tell what it is, so nothing is uploaded for as long. `monotonic`: milliseconds of this boot.
 */
export function noteLost({ meta }: Pick<Tx, 'meta'>, monotonic: number): void {
  meta.set('lost_at', Math.round(monotonic))
}

/** When the state was lost, in monotonic milliseconds. Null: nothing that was sent before can arrive any more. */
export function lostAt({ meta }: Pick<Synced, 'meta'>): number | null {
  return meta.get('lost_at')
}

/** Once nothing can arrive any more, albums are walked anew, so that late images are seen. */
export async function endLoss(context: EngineContext): Promise<void> {
  const { synced, clock, credentialLifetimeMs, contents } = context
  const at = lostAt(synced)
  if (at === null || clock.monotonic() - at <= mayArriveFor(credentialLifetimeMs)) return
  contents.forgetAll()
  await synced.commit(tx => tx.meta.clear('lost_at'))
}

/**
 * Monotonic times in the records count from one boot. After another boot nobody knows how much time has passed. So the
 * time between the boots counts as none, and every measurement begins anew. `bootId`: names this boot. A system without
 * names for its boots gives a constant; there a monotonic clock that is behind the records shows that the machine was
 * booted again. `monotonic`: milliseconds of this boot. May be repeated.
 */
export function noteBoot(
  { meta, journal, albums, unusedAlbums }: Tx,
  bootId: string,
  monotonic: number,
): void {
  const [known, at] = (meta.get('boot') ?? '').split(' ')
  if (known !== bootId || monotonic < Number(at)) {
    // The columns take whole milliseconds.
    for (const table of [journal, albums, unusedAlbums]) table.restartClocks(Math.round(monotonic))
    meta.clear('clock_offset')
    if (lostAt({ meta }) !== null) noteLost({ meta }, monotonic)
  }
  meta.set('boot', `${bootId} ${monotonic}`)
}
