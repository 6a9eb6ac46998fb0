import { DAY_MS, type Millis } from '../../protocol/clock.ts'
import { held } from '../../records/escrow.ts'
import type { Synced, Tx } from '../../synced/synced.ts'
import type { EscrowWeight } from '../../synced/tables/escrow.ts'
import type { Reason } from '../../words/reasons.ts'
import type { EngineContext } from '../context.ts'
import type { Emit } from '../pass-events.ts'
import type { Pass } from '../pass-request.ts'
import type { ScannedMirror } from '../scan/index.ts'

export interface HoldPolicy {
  /** Deletions are held when they are more than this fraction of the mirror's pictures. From 0 to 1. */
  hold_above: number
  hold_min: number
}

/** The window: the deletions of so much running time count together, so many small ones are held like a large one. */
const WINDOW_MS = DAY_MS

/** Whether a person must approve so many deletions. `deleted`: how many were made within the window. */
export function isTooMuch({ pending, deleted, in_use }: EscrowWeight, policy: HoldPolicy): boolean {
  const all = pending + deleted
  return pending > 0 && all > policy.hold_min && all > policy.hold_above * (in_use + all)
}

/** Holds all deletions of a mirror that wait, when they are too many. Nobody can tell which of them are intended, so all
 * of them are held. `running`: running time in milliseconds. */
export async function weighDeletions(
  synced: Synced,
  emit: Emit,
  mirror: { id: number; folder: string },
  policy: HoldPolicy,
  running: number,
  now: Millis,
): Promise<void> {
  const { escrow } = synced
  const weight = escrow.weight({ mirror: mirror.id, since: running - WINDOW_MS })
  if (!isTooMuch(weight, policy)) return
  const waiting = await synced.commit(tx => held(tx, mirror.id, now))
  if (waiting > 0)
    emit({
      event: 'deletions_held',
      mirror: mirror.folder,
      images: weight.pending,
      pictures: weight.in_use,
    })
}

/** Records of each mirror whether what waits in its grace will be held, so that people are told before. */
export async function weighAhead(
  { synced: { escrow, mirrors, commit }, hold, running }: Pick<EngineContext, 'synced' | 'hold' | 'running'>,
  { task }: Pick<Pass, 'task'>,
  scanned: readonly ScannedMirror[],
): Promise<void> {
  if (task !== 'mirror' && task !== 'retry') return
  for (const { row, policy } of scanned) {
    const { id } = row
    const window = { mirror: id, since: running() - WINDOW_MS }
    const { pending, deleted } = escrow.toDelete(window)
    // All files of the mirror are counted only when so many images wait.
    const mayBe =
      policy.deletions === 'propagate' && pending + deleted > hold.hold_min && escrow.anyToHold(id)
    const will_hold = mayBe && isTooMuch(escrow.weight(window), hold) ? 1 : 0
    if (will_hold !== mirrors.byId(id)?.will_hold) await commit(tx => tx.mirrors.willHold({ id, will_hold }))
  }
}

/** Forgets the deletions that happened before the window. */
export function forgetOldDeletions({ escrow }: Tx, running: number): void {
  escrow.prune(running - WINDOW_MS)
}

/** Why nothing may be deleted now, or null: this machine's claim on its albums is not sure, or a root is in doubt. */
export function whyNoDeletions(
  { synced, claims }: Pick<EngineContext, 'synced' | 'claims'>,
  policies: readonly { folder: string }[],
): Reason | null {
  return claims.doubt() ?? doubtAbout(synced, policies)
}

/** Why nothing of any mirror may be deleted now, or null. When the root of one mirror is in doubt, a picture of another
 * mirror may have moved into it. */
export function doubtAbout({ mirrors }: Synced, policies: readonly { folder: string }[]): Reason | null {
  for (const { folder } of policies) {
    const guard = mirrors.of(folder)?.guard
    if (guard != null) return guard
  }
  return null
}
