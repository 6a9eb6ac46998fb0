import type { Millis } from '../protocol/clock.ts'
import type { Records, Tx } from '../synced/synced.ts'
import type { EscrowRow, ManyWait } from '../synced/tables/escrow.ts'
import type { FileKey } from '../synced/tables/files.ts'
import type { Location } from '../synced/tables/history.ts'
import { because, type Reason } from '../words/reasons.ts'
import { removeFile, writeFile } from './file-states.ts'
import { ledgerNow } from './ledger-time.ts'
import { stayed } from './waits.ts'

export interface RunMoment {
  /** The wall clock. */
  now: Millis
  /** Running time: how many milliseconds albumd has run, over all its starts. */
  running: number
}

export interface Moment extends RunMoment {
  /** The grace: how long an image waits in escrow, in milliseconds of running time. */
  graceMs: number
}

/** What a mirror does with the image of a picture that was deleted or replaced: delete it or keep it. */
export type Deletions = 'propagate' | 'keep'

/** Records how long albumd has run, together with what is due then: a crash must not make a grace longer. */
export function recordRunning(tx: Tx, { now, running }: RunMoment): void {
  tx.meta.set('running_ms', running)
  tx.meta.set('running_at', now)
  ledgerNow(tx, now)
}

/** Puts an image into escrow, or begins its grace again. An entry that is held, unproved or approved stays so. An image that is
 * kept for good does not enter, because its deletion would be announced and never happen. */
export function enterEscrow(
  tx: Tx,
  { image, mirror, path, reason }: Location & Pick<EscrowRow, 'image' | 'reason'>,
  moment: Moment,
): void {
  if (isKept(tx, image)) return
  const { now, running, graceMs } = moment
  const due_at = graceMs === 0 ? WITHOUT_GRACE : running + graceMs
  tx.escrow.put({ image, mirror, path, reason, state: 'grace', since: now, due_at })
  recordRunning(tx, moment)
}

/** The `due_at` of an image that entered escrow without a grace. */
const WITHOUT_GRACE = 0

/** How far an image's grace is. none: it has none: a `sync` deletes it at its end, a daemon gives it the daemon's grace. clock:
 * it has none, and waits by the wall clock as one of many. over: it waits no longer, or only for a person. */
export type Grace = 'none' | 'runs' | 'clock' | 'over'

/** `running`: running time in milliseconds. `now`: the wall clock. */
export function graceOf(
  { state, postponed, due_at, many_until }: EscrowRow,
  running: number,
  now: Millis,
): Grace {
  if (due_at > running) return 'runs'
  if (state !== 'grace' || due_at !== WITHOUT_GRACE) return 'over'
  if (many_until !== null) return many_until > now ? 'clock' : 'over'
  return postponed === 0 ? 'none' : 'over'
}

/** A daemon gives its grace, of few or of many, to what a command left without one. A grace that is over stays over. */
export function givenGrace(
  tx: Tx,
  { running, graceMs, graceManyMs }: { running: number; graceMs: number; graceManyMs: number },
): void {
  tx.escrow.giveGrace({ due_at: running + graceMs, many_due_at: running + Math.max(graceMs, graceManyMs) })
}

/** Whether the image stays on the host for good. */
export function isKept({ images }: Records, image: number): boolean {
  return images.byId(image)?.kept === 1
}

/** A newer image replaces this one. This one is kept for good when the mirror keeps images, and else enters escrow. */
export function superseded(
  tx: Tx,
  image: number,
  { mirror, path }: Location,
  deletions: Deletions,
  moment: Moment,
): void {
  if (deletions === 'keep') tx.images.keep(image)
  else enterEscrow(tx, { image, mirror, path, reason: 'superseded' }, moment)
}

/** A file uses the image again: it leaves escrow, and the records of gone files that used it are removed. */
export function takenBack(tx: Tx, image: number): void {
  tx.escrow.takeBack(image)
  for (const file of tx.files.onImage(image))
    if (file.state === 'gone') removeFile(tx, 'image taken back', file.state, file)
}

/** Something needs an image that was to be deleted, so the image is taken out of escrow. */
export function needed(tx: Tx, entry: EscrowRow, detail: Reason, now: number): void {
  tx.history.add(entry, { at: now, event: 'needed', detail })
  takenBack(tx, entry.image)
}

/** Holds the deletions of a mirror until a person approves or discards them. Returns how many entries became held. */
export function held(tx: Tx, mirror: number, now: Millis): number {
  const before = new Set(
    tx.escrow.ofMirror(mirror).flatMap(({ image, state }) => (state === 'held' ? image : [])),
  )
  const n = tx.escrow.hold(mirror)
  for (const entry of tx.escrow.ofMirror(mirror))
    if (entry.state === 'held' && !before.has(entry.image)) tx.history.add(entry, { at: now, event: 'held' })
  return n
}

/** Many deletions come together, so all wait longer. Returns how many waited shorter before. `isNews`: whether pictures are
 * gone, not edited alone. */
export function delayed(tx: Tx, wait: ManyWait, isNews: boolean): number {
  const before = tx.escrow.many(wait.mirror).deletions > 0 && tx.mirrors.byId(wait.mirror)?.many_news === 1
  const n = tx.escrow.delay(wait)
  tx.mirrors.manyNews(before || isNews ? 1 : 0, wait.mirror)
  return n
}

/** Pictures that have moved meanwhile are not lost: their images are neither held nor of many, and get the grace of few. */
export function released(
  tx: Tx,
  mirror: number,
  { running, graceMs }: Pick<Moment, 'running' | 'graceMs'>,
): void {
  tx.escrow.release({ mirror, due_at: running + graceMs })
}

/** A person has approved the deletion of these images, which ends their grace. */
export function approved(tx: Tx, images: readonly number[], now: Millis): void {
  for (const image of images) {
    tx.history.ofImage(image, { at: now, event: 'approved' })
    tx.escrow.approve(image)
  }
}

/** The images stay on the host for good. A picture with the same bytes that comes back uses its image again. */
export function kept(tx: Tx, images: readonly number[], now: Millis): void {
  for (const image of images) {
    tx.history.ofImage(image, { at: now, event: 'kept', detail: because('image_kept') })
    tx.images.keep(image)
    tx.escrow.takeBack(image)
    for (const file of tx.files.onImage(image))
      if (file.state === 'gone')
        writeFile(tx, 'image kept', file.state, { ...file, state: 'kept', since: now })
  }
}

/** Like `kept`, for a picture of which no scan has found yet that it is gone. The next scan makes its file kept. */
export function keptAhead(tx: Tx, { image, ...file }: FileKey & { image: number }, now: number): void {
  tx.history.ofFile(file, { at: now, event: 'kept', detail: because('image_kept') })
  tx.images.keep(image)
}

/** The host refused to delete the image. `dueAt`: the running time at which albumd tries again. */
export function postponed(tx: Tx, entry: EscrowRow, dueAt: number, why: Reason, now: number): void {
  tx.history.add(entry, { at: now, event: 'postponed', detail: why })
  tx.escrow.postpone({ image: entry.image, due_at: dueAt })
  stayed(tx, entry.image, why, now)
}

/** A person wants deletions that the host has refused to be tried at once. `running`: running time in milliseconds. */
export function hurried(tx: Tx, running: number): void {
  tx.escrow.hurry(running)
}

/** The image's bytes can't be compared, so a person must approve its deletion. `dueAt`: the running time of the next try. */
export function unproved(tx: Tx, image: number, dueAt: number): void {
  tx.escrow.unproved({ image, due_at: dueAt })
}

/** Counts a deletion for the hold, before the image's record is removed. `running`: running time in milliseconds. */
export function countDeletion(tx: Tx, { image }: EscrowRow, running: number): void {
  tx.escrow.record({ at: running, image })
}
