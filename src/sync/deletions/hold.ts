import { DAY_MS, type Millis } from '../../protocol/clock.ts'
import { delayed, held, type Moment, released } from '../../records/escrow.ts'
import type { Synced, Tx } from '../../synced/synced.ts'
import type { EscrowWeight, ManyWait } from '../../synced/tables/escrow.ts'
import { because, type Reason } from '../../words/reasons.ts'
import { isoTime } from '../../words/text.ts'
import { momentOf } from '../clock.ts'
import type { EngineContext } from '../context.ts'
import type { Pass } from '../pass-request.ts'
import type { ScannedMirror } from '../scan/index.ts'

export interface HoldPolicy {
  /** Deletions are held when they are more than this fraction of the mirror's pictures. From 0 to 1. */
  hold_above: number
  hold_min: number
}

/** The window: the deletions of so much running time count together, so many small ones weigh as much as a large one. */
const WINDOW_MS = DAY_MS

/** So many are few in a mirror of any size. */
const FEW = 3
/** Up to this fraction of a mirror is few, and at most so many. */
const FEW_SHARE = 0.05
const MOST_FEW = 20
/** More than this fraction of a mirror is too many. */
const HALF = 0.5

/** few: the images go after their grace. many: they wait longer. too_many: they wait for a person. */
export type HowMany = 'few' | 'many' | 'too_many'

/** How many the deletions are that wait, together with those of the window. */
export function howMany(
  { pending, deleted, in_use }: Omit<EscrowWeight, 'edited'>,
  { hold_above, hold_min }: HoldPolicy,
): HowMany {
  const all = pending + deleted
  const share = all / (in_use + all)
  if (pending === 0) return 'few'
  if ((all > hold_min && share > hold_above) || (all > FEW && share > HALF)) return 'too_many'
  return all <= FEW || (all <= MOST_FEW && share <= FEW_SHARE) ? 'few' : 'many'
}

/** Weighs what waits to be deleted in each mirror: many wait longer, too many wait for a person. Nobody can tell which of them
 * are intended, so all of them do. Called as soon as a scan has found them, so that people are told at once. */
export async function weighDeletions(
  context: EngineContext,
  { task, began }: Pick<Pass, 'task' | 'began'>,
  mirrors: readonly Pick<ScannedMirror, 'row' | 'policy'>[],
): Promise<void> {
  if (task !== 'mirror' && task !== 'retry') return
  const { synced, hold, graceMs, graceManyMs, isDaemon, emit } = context
  const { escrow, commit } = synced
  for (const { row, policy } of mirrors) {
    const mirror = row.id
    const moment = momentOf(context)
    const window = { mirror, since: moment.running - WINDOW_MS }
    if (escrow.anyToRelease(mirror)) await commit(tx => released(tx, mirror, moment))
    const { pending, deleted } = escrow.toDelete(window)
    // All files of the mirror are counted only when so many images wait.
    const mayBe = pending + deleted > Math.min(FEW, hold.hold_min) && escrow.anyToHold(mirror)
    if (policy.deletions !== 'propagate' || !mayBe) continue
    const weight = escrow.weight(window)
    const said = { mirror: policy.folder, pictures: weight.in_use }
    const many = howMany(weight, hold)
    if (many === 'too_many') {
      const images = await commit(tx => held(tx, mirror, moment.now))
      if (images > 0) emit({ event: 'deletions_held', images: weight.pending, ...said })
    } else if (many === 'many' && graceManyMs > 0 && escrow.anyToDelay(mirror)) {
      const until = (isDaemon ? moment.now : began) + Math.max(graceMs, graceManyMs)
      const wait = manyWait(moment, weight, { until, graceManyMs, isDaemon })
      const images = await commit(tx => delayed(tx, { mirror, ...wait }, isNews(weight, hold)))
      emit({ event: 'deletions_many', images, until: isoTime(until), ...said })
    }
  }
}

function manyWait(
  { now, running, graceMs }: Moment,
  { pending, deleted, in_use }: EscrowWeight,
  { until, graceManyMs, isDaemon }: { until: Millis; graceManyMs: number; isDaemon: boolean },
): Omit<ManyWait, 'mirror'> {
  const deletions = pending + deleted
  const why = because('many_go', { deletions, all: in_use + deletions })
  const due_at = running + Math.max(graceMs, graceManyMs)
  return { until, due_at, by_clock: isDaemon ? 0 : 1, why, why_at: now }
}

/** Whether the pictures that are gone are many without those that were edited. */
function isNews({ pending, deleted, edited, in_use }: EscrowWeight, policy: HoldPolicy): boolean {
  const gone = pending + deleted - edited
  return gone > 0 && howMany({ pending: gone, deleted: 0, in_use }, policy) !== 'few'
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
