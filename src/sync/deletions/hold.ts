import { DAY_MS, type Millis } from '../../protocol/clock.ts'
import { delayed, held, released } from '../../records/escrow.ts'
import type { Synced, Tx } from '../../synced/synced.ts'
import type { EscrowWeight } from '../../synced/tables/escrow.ts'
import { because, type Reason } from '../../words/reasons.ts'
import { isoTime } from '../../words/text.ts'
import { momentOf } from '../clock.ts'
import type { EngineContext } from '../context.ts'
import type { PassTask } from '../pass-request.ts'
import type { ScannedMirror } from '../scan/index.ts'

export interface HoldPolicy {
  /** Deletions are held when they are more than this fraction of the mirror's pictures. From 0 to 1. */
  hold_above: number
  hold_min: number
}

/** The window: deletions within so much running time count together, so many small ones weigh as much as a large one. */
const WINDOW_MS = DAY_MS

/** So many deletions are few in a mirror of any size. */
const FEW = 3
/** Up to this fraction of a mirror, deletions are few, but at most MOST_FEW. */
const FEW_SHARE = 0.05
const MOST_FEW = 20
/** More than this fraction of a mirror is too many. */
const HALF = 0.5

/** few: images are deleted after their grace. many: they wait longer. too_many: they wait for a person. */
export type HowMany = 'few' | 'many' | 'too_many'

/** Whether the deletions that wait, together with those of the window, are few, many or too many. */
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

/** Weighs the deletions that wait in each mirror. Many wait longer, and too many wait for a person. All of them do, because
 * nobody can tell which are intended. Called as soon as a scan has found them, so that people are told at once. */
export async function weighDeletions(
  context: EngineContext,
  { task, began }: { task: PassTask; began: Millis },
  mirrors: readonly Weighed[],
): Promise<void> {
  if (task !== 'mirror' && task !== 'retry') return
  for (const mirror of mirrors)
    if (mirror.policy.deletions === 'propagate') await weigh(context, began, mirror)
}

type Weighed = Pick<ScannedMirror, 'row' | 'policy'>

async function weigh(context: EngineContext, began: Millis, of: Weighed): Promise<void> {
  const { synced, hold, emit } = context
  const { escrow, commit } = synced
  const mirror = of.row.id
  const moment = momentOf(context)
  const window = { mirror, since: moment.running - WINDOW_MS }
  if (escrow.anyToRelease(mirror)) await commit(tx => released(tx, mirror, moment))
  const { pending, deleted } = escrow.toDelete(window)
  // The files of the mirror are counted only when many images wait, because that takes long.
  if (pending + deleted <= Math.min(FEW, hold.hold_min) || !escrow.anyToHold(mirror)) return
  const weight = escrow.weight(window)
  const many = howMany(weight, hold)
  if (many === 'many') await delay(context, began, of, weight)
  if (many !== 'too_many') return
  const images = await commit(tx => held(tx, mirror, moment.now))
  const { in_use: pictures } = weight
  if (images > 0)
    emit({ event: 'deletions_held', mirror: of.policy.folder, images: weight.pending, pictures })
}

/** Makes all deletions of a mirror wait as many. Those of a command that ends wait by the clock, from its beginning on. */
async function delay(
  context: EngineContext,
  began: Millis,
  { row: { id: mirror }, policy }: Weighed,
  weight: EscrowWeight,
): Promise<void> {
  const { synced, hold, graceManyMs, isDaemon, emit } = context
  const { escrow, commit } = synced
  if (graceManyMs === 0 || !escrow.anyToDelay(mirror)) return
  const { now, running, graceMs } = momentOf(context)
  const graceMany = Math.max(graceMs, graceManyMs)
  const until = (isDaemon ? now : began) + graceMany
  const by_clock = isDaemon ? 0 : 1
  const why = because('many_go')
  const wait = { mirror, until, due_at: running + graceMany, by_clock, why, why_at: now } as const
  const isFirst = escrow.many(mirror).deletions === 0
  const images = await commit(tx => delayed(tx, wait, isNews(weight, hold)))
  // An event tells only of the first ones. Counts tell of later ones, because a trickle of events would fill the log.
  if (isFirst)
    emit({
      event: 'deletions_many',
      mirror: policy.folder,
      images,
      pictures: weight.in_use,
      until: isoTime(until),
    })
}

/** Whether the pictures that are gone are many, without those that were edited. */
function isNews({ pending, deleted, edited, in_use }: EscrowWeight, policy: HoldPolicy): boolean {
  const gone = pending + deleted - edited
  return gone > 0 && howMany({ pending: gone, deleted: 0, in_use }, policy) !== 'few'
}

export function forgetOldDeletions({ escrow }: Tx, running: number): void {
  escrow.prune(running - WINDOW_MS)
}

/** Why nothing may be deleted now: this machine's claim on its albums is not sure, or a root is in doubt. Null: it may. */
export function whyNoDeletions(
  { synced, claims }: Pick<EngineContext, 'synced' | 'claims'>,
  policies: readonly { folder: string }[],
): Reason | null {
  return claims.doubt() ?? doubtAbout(synced, policies)
}

/** Why nothing may be deleted now: a root is in doubt, and a picture of another mirror may have moved below it. Null: none is. */
export function doubtAbout({ mirrors }: Synced, policies: readonly { folder: string }[]): Reason | null {
  for (const { folder } of policies) {
    const guard = mirrors.of(folder)?.guard
    if (guard != null) return guard
  }
  return null
}
