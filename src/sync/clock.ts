import { isCoarse, STAMP_GRAIN } from '../local/disk.ts'
import { type Clock, HOUR_MS, type Millis } from '../protocol/clock.ts'
import type { Moment } from '../records/escrow.ts'
import { gapBegan } from '../records/versions.ts'
import type { MetaReads, Tx } from '../synced/synced.ts'
import type { EngineContext, GracePort } from './context.ts'

/** The time of an event, as the functions of `src/records` take it. */
export function momentOf({ clock, running, graceMs }: GracePort): Moment {
  return { now: clock.wall(), running: running(), graceMs }
}

/** When the difference of wall clock and monotonic clock changes by more than this, somebody has set the wall clock. */
const DRIFT_MS = 250

/** What is known of the wall clock, in milliseconds. */
export interface KnownClock {
  /** The wall clock minus the monotonic clock, when the two were last read. */
  offset: number
  /** The monotonic time at which albumd first read the clocks in this boot, or noticed that the wall clock had been set. */
  setAt: number
  /** Whether `setAt` is only the time of the first look, and no clock was set. */
  isFirst?: true
}

/** Tells for how long files have been left alone. A young file must not seem old after somebody has set the clock forward. */
export class FileAges {
  #known: KnownClock | null

  /** `known`: what the previous process of this boot recorded, or null. */
  constructor(known: KnownClock | null) {
    this.#known = known
  }

  /** Reads both clocks. Each pass ends with this, because a clock that was set is trusted only from the next look on. */
  look(clock: Clock): KnownClock {
    const now = clock.monotonic()
    const offset = clock.wall() - now
    const before = this.#known
    const isSet = before !== null && Math.abs(offset - before.offset) > DRIFT_MS
    const { setAt, isFirst } = before === null || isSet ? { setAt: now, isFirst: !isSet } : before
    this.#known = { offset, setAt, ...(isFirst && { isFirst }) }
    return this.#known
  }

  /** Milliseconds since `ctime` (microseconds), at most the time for which albumd knows that the wall clock was not set. */
  since(ctime: number, clock: Clock): number {
    return Math.min(this.#by(ctime, clock), clock.monotonic() - this.look(clock).setAt)
  }

  /** Like `since`, but takes the clock for right as it was before albumd first looked in this boot. */
  likelySince(ctime: number, clock: Clock): number {
    return this.look(clock).isFirst ? this.#by(ctime, clock) : this.since(ctime, clock)
  }

  #by(ctime: number, clock: Clock): number {
    // On a file system with timestamps in whole seconds, a file may have changed up to a second after its timestamp.
    const grain = isCoarse(ctime) ? STAMP_GRAIN : 0
    // After the clock was set back, a ctime may lie in the future. The file then counts as changed just now.
    return Math.max(0, clock.wall() - (ctime + grain) / 1000)
  }
}

/** For how long albumd has run, over all its starts. While a daemon runs, the time since the last record counts too. */
export function runningTime(
  { meta }: MetaReads,
  { now, running }: { now: Millis; running: boolean },
): number {
  const since = running ? now - (meta.get('running_at') ?? now) : 0
  return (meta.get('running_ms') ?? 0) + Math.max(0, since)
}

/** For how long after it was sent a request may be served: a credential's life (§8), and a margin for clocks and proxies. */
export function mayArriveFor(credentialLifetimeMs: number): number {
  return credentialLifetimeMs * 1.2 + 1000
}

/** Notes that the records are an older copy. What they want sent again may have been sent, and their audit saw other albums. */
export function noteOlder(tx: Tx): void {
  tx.meta.set('restored', true)
  tx.meta.clear('audit_began')
  tx.meta.clear('audit_ended')
  gapBegan(tx)
  noteOthersWork(tx)
  tx.resend.forget()
}

/** Notes that the albums may hold other images than recorded: each is walked before the next upload, and an audit is due. */
export function noteOthersWork({ meta, contents }: Tx): void {
  meta.set('audit_slot', 0)
  contents.forget()
}

/** Notes that the state was lost. Earlier requests may still arrive, and no record tells what they sent. So nothing is uploaded
 * until they can't arrive any more. `monotonic`: milliseconds of this boot. */
export function noteLost({ meta }: Tx, monotonic: number): void {
  meta.set('lost_at', Math.round(monotonic))
}

/** When the state was lost, in monotonic milliseconds; null once no request from before can arrive any more. */
export function lostAt({ meta }: MetaReads): number | null {
  return meta.get('lost_at')
}

/** How seldom it is recorded that credentials are asked for. */
const ASKED_MS = 60_000
/** Longer than such a request may wait before it leaves, and a credential's life. */
const PROMISED_MS = HOUR_MS

/** Called before a credential is asked for. The answer may be lost, or the process may end before the upload is recorded. */
export function noteAsked({ synced, clock }: Asking): void {
  const now = Math.round(clock.monotonic())
  const at = synced.meta.get('asked_at')
  if (at === null || now - at > ASKED_MS) synced.commitNow(tx => tx.meta.set('asked_at', now))
}

/** Whether the host may have listed an image then of whose upload no record tells. Some hosts list it from step 1 on, with the
 * size that was declared. */
export function mayBePromised({ synced, clock }: Asking, seen: Millis): boolean {
  const at = synced.meta.get('asked_at')
  const walkedAt = clock.monotonic() - (clock.wall() - seen)
  return lostAt(synced) !== null || (at !== null && walkedAt - at <= PROMISED_MS)
}

type Asking = Pick<EngineContext, 'synced' | 'clock'>

/** When uploads go on after a state loss. Null: they do not wait for it. */
export function lossEndsAt(
  synced: MetaReads,
  credentialLifetimeMs: number,
  clock: Omit<Clock, 'sleep'>,
): Millis | null {
  const at = lostAt(synced)
  const most = mayArriveFor(credentialLifetimeMs)
  // After another boot, the monotonic clock may be behind the recorded time.
  return at === null ? null : clock.wall() + Math.min(most, at + most - clock.monotonic())
}

/** Ends the wait after a state loss. Albums are walked again, because images may have arrived since the last walk. */
export async function endLoss(context: EngineContext): Promise<void> {
  const { synced, clock, credentialLifetimeMs, contents } = context
  const at = lostAt(synced)
  if (at === null || clock.monotonic() - at <= mayArriveFor(credentialLifetimeMs)) return
  contents.forgetAll()
  await synced.commit(tx => tx.meta.clear('lost_at'))
}

/** Notes the boot. The monotonic clock begins anew with each boot, so nobody knows how much time has passed since a recorded
 * monotonic time. That time is replaced by the present, and albumd waits in full once more. Where the system does not name its
 * boots, a clock behind the recorded time shows a new one. `monotonic`: milliseconds of this boot. */
export function noteBoot(tx: Tx, bootId: string, monotonic: number): void {
  const { meta, journal, albums, unusedAlbums } = tx
  const [known, at] = (meta.get('boot') ?? '').split(' ')
  if (known !== bootId || monotonic < Number(at)) {
    // The columns hold whole milliseconds.
    for (const table of [journal, albums, unusedAlbums]) table.restartClocks(Math.round(monotonic))
    meta.clear('wall_clock')
    meta.clear('booted_at')
    for (const key of ['lost_at', 'asked_at'] as const)
      if (meta.get(key) !== null) meta.set(key, Math.round(monotonic))
  }
  meta.set('boot', `${bootId} ${monotonic}`)
}

/** Corrects the ends of deletions that wait by the wall clock, when it was set since the last process of this boot, so that they
 * wait for as long as before. `bootedAt`: when the boot began, by the clock as it is now; time asleep counts. */
export function noteSetClock({ meta, escrow }: Tx, bootedAt: Millis): void {
  escrow.moveMany(Math.round(bootedAt - (meta.get('booted_at') ?? bootedAt)))
  meta.set('booted_at', bootedAt)
}
