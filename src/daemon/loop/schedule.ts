import { createTask } from 'node-cron'
import type { Config } from '../../config/schema.ts'
import { type Clock, systemClock } from '../../protocol/clock.ts'
import type { HostFailure } from '../../remote/host.ts'
import { lostAt, mayArriveFor } from '../../sync/clock.ts'
import type { Interruption, PassReport } from '../../sync/pass-request.ts'
import { RETRY_MS } from '../../sync/quota/index.ts'
import type { Synced } from '../../synced/synced.ts'
import { inWords } from '../../words/reasons.ts'
import { type AuditResult, audit, noteAudit } from '../commands/audit.ts'
import type { Engine } from '../engine/engine.ts'
import { isOpen, nextBorder } from '../report/upload-hours.ts'
import { pauseAt } from '../state/pause.ts'

export interface Recurring {
  /** When the time comes. It stays until `attended` is called; times that come until then are skipped. */
  at(): number
  /** Must be called when the work is done. The work is then due at the next time. */
  attended(): void
}

/** The times of a cron expression, by this machine's clock. `kept`: the next time as an earlier run kept it, so that work is due
 * at once that was missed while albumd did not run; null: none was kept. `keep`: keeps the next time. */
export function cronSchedule(
  expression: string,
  kept: number | null = null,
  keep: (at: number) => void = () => {},
): Recurring {
  let known = kept

  function next(): number {
    const task = createTask(expression, () => {})
    const [run] = task.getNextRuns(1)
    void task.destroy()
    return run!.getTime()
  }

  function attended(): number {
    known = next()
    keep(known)
    return known
  }

  return {
    at() {
      // The next time is wrong when the clock was set back or a person changed the expression.
      const isWrong = known === null || (known > systemClock.wall() && known > next())
      return isWrong ? attended() : known!
    },
    attended,
  }
}

export interface ScheduledAuditOptions {
  clock: Clock
  schedule: Recurring
  /** Begins an audit, or goes on with the one that was begun. Repairs nothing. */
  audit: (interruption: Interruption) => Promise<AuditResult>
  onEnd: (result: AuditResult) => void
  onFailure: (failure: HostFailure) => void
}

const AUDIT_AGAIN_MS = 15 * 60_000
/** How long the audit of an album goes on while other work is due. With less time a large album might never be finished. */
const PATIENCE_MS = 30_000

export type ScheduledAudit = ReturnType<typeof scheduledAudit>

/** The audit by schedule. It goes on, album by album and over restarts, while nothing else is due. */
export function scheduledAudit(options: ScheduledAuditOptions) {
  const { clock, schedule, audit, onEnd, onFailure } = options
  let notBefore = Number.NEGATIVE_INFINITY

  /** Puts the audit off: to the next scheduled time when plan or key forbid it, and else for AUDIT_AGAIN_MS. */
  function giveUp(failure: HostFailure): void {
    onFailure(failure)
    if (failure.remedy === 'plan' || failure.remedy === 'key') schedule.attended()
    else notBefore = clock.monotonic() + AUDIT_AGAIN_MS
  }

  return {
    /** In how many milliseconds the audit is due. At most 0: it is due. */
    dueMs: () => Math.max(notBefore - clock.monotonic(), schedule.at() - clock.wall()),
    /** Goes on until the audit ends, or until `rest` resolves because other work is due. Returns whether other work is due. */
    async goOn({ stop, cut }: Interruption, rest: (ended: AbortSignal) => Promise<unknown>) {
      const ended = new AbortController()
      const elsewhere = new AbortController()
      const impatient = new AbortController()
      const makeWay = async () => {
        await rest(AbortSignal.any([stop, ended.signal]))
        if (ended.signal.aborted) return
        elsewhere.abort()
        await clock.sleep(PATIENCE_MS, ended.signal)
        if (!ended.signal.aborted) impatient.abort()
      }
      const makingWay = makeWay()
      try {
        const result = await audit({
          stop: AbortSignal.any([stop, elsewhere.signal]),
          cut: AbortSignal.any([cut, impatient.signal]),
        })
        const [failure] = result.stopped
        if (failure) giveUp(failure)
        else if (result.finished) {
          schedule.attended()
          onEnd(result)
        }
        return elsewhere.signal.aborted
      } finally {
        ended.abort()
        await makingWay
      }
    },
  }
}

/** The audit at the times of `watch.audit`. Null: there are none. The next time is recorded, so that a missed audit begins at a
 * start. */
export function auditBySchedule(config: Config, engine: Engine): ScheduledAudit | null {
  if (config.watch.audit === null) return null
  const { clock, synced } = engine.context
  const keep = (at: number) => synced.commitNow(tx => tx.meta.set('audit_slot', at))
  return scheduledAudit({
    clock,
    schedule: cronSchedule(config.watch.audit, synced.meta.get('audit_slot'), keep),
    audit: interruption => audit(config, engine, false, interruption, () => {}),
    onEnd: result => noteAudit(engine, result),
    onFailure: ({ code, message }) => engine.note({ event: 'audit_waits', code, message: inWords(message) }),
  })
}

/** How often the clocks are read while resting, because timers stand still while the machine sleeps. */
export const SLICE_MS = 60_000
/** Sleeps until the wall clock shows `wall`. When the machine slept meanwhile, it wakes up to SLICE_MS too late. */
export async function sleepUntil(wall: number, clock: Clock, stop: AbortSignal): Promise<void> {
  while (!stop.aborted && clock.wall() < wall)
    await clock.sleep(Math.min(wall - clock.wall(), SLICE_MS), stop)
}

export interface DueOptions {
  config: {
    mirrors: Pick<Config['mirrors'][number], 'folder' | 'deletions'>[]
    uploads: Pick<Config['uploads'], 'hours'>
  }
  synced: Synced
  clock: Clock
  running: () => number
  /** How long a credential may be used (§8), in milliseconds. */
  credentialLifetimeMs: number
  /** When everything is scanned, whether or not the watcher saw a change. */
  rescan: Recurring
}

/** How long the loop may rest without an event after a pass that took `tookMs`, in milliseconds. */
export function restMs(options: DueOptions, { stopped }: PassReport, tookMs: number): number {
  const { config, synced, clock } = options
  const { hours } = config.uploads
  const uploadsGo = hours === undefined || isOpen(hours, clock.wall())
  const waiting = config.mirrors.some(({ folder }) => {
    const row = synced.mirrors.of(folder)
    return row !== undefined && (row.guard !== null || (uploadsGo && synced.files.anyPending([row.id])))
  })
  const border = hours === undefined ? [] : [nextBorder(hours, clock.wall()) - clock.wall()]
  const again = waiting || stopped.length > 0 ? [RETRY_MS] : []
  return Math.min(dueMs(options, tookMs), ...border, ...again)
}

/** In how many milliseconds work is due for which uploads pause. What came due within the last `freshMs` is due at once. */
export function dueMs(
  { config, synced, clock, running, credentialLifetimeMs, rescan }: DueOptions,
  freshMs = 0,
): number {
  const longAgo = mayArriveFor(credentialLifetimeMs) + 1
  const inDoubt = synced.journal.oldestInDoubt()
  // The oldest upload may stay in doubt longer. So the next upload whose credential expires counts too.
  const nextInDoubt = synced.journal.nextInDoubt(clock.monotonic() - longAgo - freshMs)
  const unused = synced.unusedAlbums.oldest()
  const lost = lostAt(synced)
  const mirrors = synced.mirrors.idsOf(config.mirrors)
  const due = [
    { at: rescan.at(), now: clock.wall() },
    { at: synced.escrow.nextDue(mirrors, clock.wall()), now: running() },
    { at: synced.failures.nextDue(), now: clock.wall() },
    { at: pauseAt(synced, clock.wall())?.until ?? null, now: clock.wall() },
    // From this time on, the upload in doubt can't arrive any more, so recovery can decide about it.
    { at: inDoubt === null ? null : inDoubt + longAgo, now: clock.monotonic() },
    { at: nextInDoubt === null ? null : nextInDoubt + longAgo, now: clock.monotonic() },
    // After a state loss, uploads that only the lost records knew may arrive until this time.
    { at: lost === null ? null : lost + longAgo, now: clock.monotonic() },
    // From this time on no upload can arrive in the unused album, so the album may be deleted.
    { at: unused === null ? null : unused + longAgo, now: clock.monotonic() },
  ]
  // The last pass could not do what has been due for longer. It waits, because with a retry at once the loop would never rest.
  const waitMs = (at: number, now: number) => (at > now ? at - now : now - at < freshMs ? 0 : RETRY_MS)
  return Math.min(...due.flatMap(({ at, now }) => (at === null ? [] : [waitMs(at, now)])))
}
