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

/** When the wall clock minus the monotonic clock changes by more, somebody has set the wall clock. */
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

  /** Reads both clocks. Each pass ends with such a look: a clock that was set is trusted only from the next look on. */
  look(clock: Clock): KnownClock {
    const now = clock.monotonic()
    const offset = clock.wall() - now
    const before = this.#known
    const isSet = before !== null && Math.abs(offset - before.offset) > DRIFT_MS
    const { setAt, isFirst } = before === null || isSet ? { setAt: now, isFirst: !isSet } : before
    this.#known = { offset, setAt, ...(isFirst && { isFirst }) }
    return this.#known
  }

  /** Milliseconds since `ctime` (microseconds), but at most since albumd knows that the wall clock was not set. */
  since(ctime: number, clock: Clock): number {
    return Math.min(this.#by(ctime, clock), clock.monotonic() - this.look(clock).setAt)
  }

  /** The same, where what the clock did before albumd first looked in this boot is taken for right. */
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

/** Running time: how long albumd has run, over all its starts, and since the last record while a daemon runs. */
export function runningTime(
  { meta }: MetaReads,
  { now, running }: { now: Millis; running: boolean },
): number {
  const since = running ? now - (meta.get('running_at') ?? now) : 0
  return (meta.get('running_ms') ?? 0) + Math.max(0, since)
}

/** For how long a request that was sent may still be served: a credential's life (§8), and a margin for clocks and proxies. */
export function mayArriveFor(credentialLifetimeMs: number): number {
  return credentialLifetimeMs * 1.2 + 1000
}

/** Notes that the records are an older copy. What was to be sent again may have been sent, and audits saw other albums. */
export function noteOlder(tx: Tx): void {
  tx.meta.set('restored', true)
  tx.meta.clear('audit_began')
  tx.meta.clear('audit_ended')
  gapBegan(tx)
  noteOthersWork(tx)
  tx.resend.forget()
}

/** The albums may hold other images than are recorded, so each is walked before the next upload into it, and an audit is due. */
export function noteOthersWork({ meta, contents }: Tx): void {
  meta.set('audit_slot', 0)
  contents.forget()
}

/** Notes that the state was lost. Requests from before may still arrive, and no record tells what they sent, so nothing is
 * uploaded until none can arrive any more. `monotonic`: milliseconds of this boot. */
export function noteLost({ meta }: Tx, monotonic: number): void {
  meta.set('lost_at', Math.round(monotonic))
}

/** When the state was lost, in monotonic milliseconds; null once no request from before can arrive any more. */
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

/** Ends the wait after a state loss. Albums are walked again, because images may have arrived since the last walk. */
export async function endLoss(context: EngineContext): Promise<void> {
  const { synced, clock, credentialLifetimeMs, contents } = context
  const at = lostAt(synced)
  if (at === null || clock.monotonic() - at <= mayArriveFor(credentialLifetimeMs)) return
  contents.forgetAll()
  await synced.commit(tx => tx.meta.clear('lost_at'))
}

/** The monotonic clock begins anew with every boot, so nobody knows how much time has passed since a recorded time. It is
 * taken as if it were now, and albumd waits in full once more. On a system that does not name its boots, a clock that is
 * behind the recorded time shows a new boot. `monotonic`: milliseconds of this boot. */
export function noteBoot(tx: Tx, bootId: string, monotonic: number): void {
  const { meta, journal, albums, unusedAlbums } = tx
  const [known, at] = (meta.get('boot') ?? '').split(' ')
  if (known !== bootId || monotonic < Number(at)) {
    // The columns hold whole milliseconds.
    for (const table of [journal, albums, unusedAlbums]) table.restartClocks(Math.round(monotonic))
    meta.clear('wall_clock')
    meta.clear('booted_at')
    if (lostAt(tx) !== null) noteLost(tx, monotonic)
  }
  meta.set('boot', `${bootId} ${monotonic}`)
}

/** Deletions that wait by the clock wait on for as long as before, when the clock was set since the last process of this boot.
 * `bootedAt`: by the clock as it is now, counting the time in which the machine slept. */
export function noteSetClock({ meta, escrow }: Tx, bootedAt: Millis): void {
  escrow.moveMany(Math.round(bootedAt - (meta.get('booted_at') ?? bootedAt)))
  meta.set('booted_at', bootedAt)
}
