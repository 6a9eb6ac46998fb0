import { isCoarse, STAMP_GRAIN } from '../local/disk.ts'
import type { Clock, Millis } from '../protocol/clock.ts'
import type { Moment } from '../records/escrow.ts'
import { gapBegan } from '../records/versions.ts'
import type { MetaReads, Tx } from '../synced/synced.ts'
import type { EngineContext, GracePort } from './context.ts'

/** The time of an event, as the functions of `src/records` take it. */
export function momentOf({ clock, running, graceMs }: GracePort): Moment {
  return { now: clock.wall(), running: running(), graceMs }
}

/** The difference between the wall clock and the monotonic clock may change by so many milliseconds. When the difference
 * changes by more, somebody has set the wall clock. */
const DRIFT_MS = 250

/** What is known of the wall clock, in milliseconds. */
export interface KnownClock {
  /** The wall clock minus the monotonic clock, when the two were last read. */
  offset: number
  /** The monotonic time at which albumd first read the clocks in this boot, or noticed that the wall clock had been set. */
  setAt: number
  /** `setAt` is the time of the first look, and not that of a clock that was set. */
  isFirst?: true
}

/** Tells how long files have been left alone. After somebody has set the clock forward, a young file must not seem old. */
export class FileAges {
  #known: KnownClock | null

  /** `known`: what the previous process recorded in this boot, or null. */
  constructor(known: KnownClock | null) {
    this.#known = known
  }

  /** Reads both clocks, and answers what is known of the wall clock now. Each pass ends with such a look, and records what is
   * known: ages are asked for seldom, and a clock that was set is trusted only from the next look on. */
  look(clock: Clock): KnownClock {
    const now = clock.monotonic()
    const offset = clock.wall() - now
    const before = this.#known
    const isSet = before !== null && Math.abs(offset - before.offset) > DRIFT_MS
    const { setAt, isFirst } = before === null || isSet ? { setAt: now, isFirst: !isSet } : before
    this.#known = { offset, setAt, ...(isFirst && { isFirst }) }
    return this.#known
  }

  /** Milliseconds since `ctime` (microseconds since 1970), but at most the time for which albumd has known the wall clock
   * not to be set. */
  since(ctime: number, clock: Clock): number {
    return Math.min(this.#by(ctime, clock), clock.monotonic() - this.look(clock).setAt)
  }

  /** The same, where only a clock that was seen to be set makes a doubt: what the clock did before albumd first looked in this
   * boot is taken for right. */
  likelySince(ctime: number, clock: Clock): number {
    return this.look(clock).isFirst ? this.#by(ctime, clock) : this.since(ctime, clock)
  }

  #by(ctime: number, clock: Clock): number {
    // On a file system whose timestamps are whole seconds, a file may have changed up to a second after its timestamp.
    const grain = isCoarse(ctime) ? STAMP_GRAIN : 0
    // After the clock was set back, a file's last change may lie in the future. The file then counts as changed just now.
    return Math.max(0, clock.wall() - (ctime + grain) / 1000)
  }
}

/** Running time: how many milliseconds albumd has run, over all its starts. While a daemon runs, the time since the last
 * record counts too. */
export function runningTime(
  { meta }: MetaReads,
  { now, running }: { now: Millis; running: boolean },
): number {
  const since = running ? now - (meta.get('running_at') ?? now) : 0
  return (meta.get('running_ms') ?? 0) + Math.max(0, since)
}

/** The wall clock minus the monotonic clock, in milliseconds. */
export function clockOffset(clock: Clock): number {
  return Math.round(clock.wall() - clock.monotonic())
}

/** For how many milliseconds a request that was sent may still be served: the life of an upload's credential (§8), and a
 * margin for the host's clock and for a proxy that holds requests back. */
export function mayArriveFor(credentialLifetimeMs: number): number {
  return credentialLifetimeMs * 1.2 + 1000
}

/** Records that the records are an older copy, or made anew. Images may have been uploaded or deleted since the copy was
 * made. Wishes to send pictures again are forgotten, because they may have been carried out since. Audits are forgotten,
 * because they have compared other albums than there are now. */
export function noteOlder(tx: Tx): void {
  tx.meta.set('restored', true)
  tx.meta.clear('audit_began')
  tx.meta.clear('audit_ended')
  gapBegan(tx)
  noteOthersWork(tx)
  tx.resend.forget()
}

/** Records that the albums may hold other images than are recorded. Each album is walked before the next upload into it, and
 * an audit is due at once. */
export function noteOthersWork({ meta, contents }: Tx): void {
  meta.set('audit_slot', 0)
  contents.forget()
}

/** Records that the state was lost, or replaced by an older copy. Requests from before the loss may still arrive at the
 * host, and no record tells what they sent. So nothing is uploaded until no such request can arrive any more. `monotonic`:
 * milliseconds of this boot. */
export function noteLost({ meta }: Tx, monotonic: number): void {
  meta.set('lost_at', Math.round(monotonic))
}

/** When the state was lost, in monotonic milliseconds. Null: the state was not lost, or no request from before the loss can
 * arrive any more. */
export function lostAt({ meta }: MetaReads): number | null {
  return meta.get('lost_at')
}

/** When uploads go on after a state loss; null: they do not wait for that. */
export function lossEndsAt(
  synced: MetaReads,
  credentialLifetimeMs: number,
  clock: Omit<Clock, 'sleep'>,
): Millis | null {
  const at = lostAt(synced)
  const most = mayArriveFor(credentialLifetimeMs)
  // After another boot the monotonic clock may be behind the recorded time.
  return at === null ? null : clock.wall() + Math.min(most, at + most - clock.monotonic())
}

/** Ends the wait after a state loss, once no request from before the loss can arrive any more. Then albums are walked again,
 * because images may have arrived since the last walk. */
export async function endLoss(context: EngineContext): Promise<void> {
  const { synced, clock, credentialLifetimeMs, contents } = context
  const at = lostAt(synced)
  if (at === null || clock.monotonic() - at <= mayArriveFor(credentialLifetimeMs)) return
  contents.forgetAll()
  await synced.commit(tx => tx.meta.clear('lost_at'))
}

/** The monotonic clock begins anew with every boot of the machine, and the records hold times of this clock. After another
 * boot nobody knows how much time has passed since a recorded time. So albumd takes the recorded times as if they were now,
 * and waits in full once more. `bootId`: the name of this boot. A system that does not name its boots gives the same text
 * each time. On such a system, a monotonic clock that is behind the recorded time shows that the machine was booted again.
 * `monotonic`: milliseconds of this boot. May be called again in the same boot. */
export function noteBoot(tx: Tx, bootId: string, monotonic: number): void {
  const { meta, journal, albums, unusedAlbums } = tx
  const [known, at] = (meta.get('boot') ?? '').split(' ')
  if (known !== bootId || monotonic < Number(at)) {
    // The columns hold whole milliseconds.
    for (const table of [journal, albums, unusedAlbums]) table.restartClocks(Math.round(monotonic))
    meta.clear('wall_clock')
    if (lostAt(tx) !== null) noteLost(tx, monotonic)
  }
  meta.set('boot', `${bootId} ${monotonic}`)
}
