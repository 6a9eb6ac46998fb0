import { once } from 'node:events'
import { createTask, type ScheduledTask } from 'node-cron'
import type { HostFailure } from '../../remote/host.ts'
import type { Clock } from '../../sync/clock.ts'
import type { Interruption } from '../../sync/pass-request.ts'
import { Background } from '../background.ts'
import type { AuditResult } from '../commands/audit.ts'

/** A time that recurs. */
export interface Recurring {
  /** Calls `onDue` each time. */
  start(onDue: () => void): void
  /** Whether a time has come since the last `attended`. Several missed times count as one. */
  isDue(): boolean
  /** Tells that the work is done, so nothing is due until the next time. */
  attended(): void
  stop(): void
}

/** Keeps the next time, in milliseconds since 1970. Null: not known yet. */
export interface KeptSlot {
  get(): number | null
  set(slot: number): void
}

/**
 * The times of a cron expression, by this machine's clock. node-cron skips a time that it notices more than a second
 * late. So the next time is kept, and work that was missed while albumd did not run or the machine slept is due at once.
 */
export class CronSchedule implements Recurring {
  readonly #expression: string
  readonly #kept: KeptSlot
  #task: ScheduledTask | null = null

  constructor(expression: string, kept: KeptSlot) {
    this.#expression = expression
    this.#kept = kept
  }

  start(onDue: () => void): void {
    this.#task = createTask(this.#expression, onDue, { unref: true, suppressMissedWarning: true })
    this.#task.on('execution:missed', onDue)
    void this.#task.start()
    if (this.#kept.get() === null) this.attended()
    else this.isDue()
  }

  isDue(): boolean {
    const kept = this.#kept.get()
    if (kept === null) return false
    if (kept <= Date.now()) return true
    // The next time is earlier than the kept one when the clock was set back or the expression was changed.
    if (this.#next() < kept) this.attended()
    return false
  }

  attended(): void {
    this.#kept.set(this.#next())
  }

  stop(): void {
    void this.#task?.destroy()
    this.#task = null
  }

  #next(): number {
    return this.#task!.getNextRuns(1)[0]!.getTime()
  }
}

/** Keeps the next time in memory alone, for work that each start of the daemon does anyway. */
export function slotInMemory(): KeptSlot {
  let slot: number | null = null
  return {
    get: () => slot,
    set: next => {
      slot = next
    },
  }
}

export interface ScheduledAuditOptions {
  clock: Clock
  schedule: Recurring
  /**
   * Begins an audit, or goes on with the one that was begun. Repairs nothing. `progress` is told how many albums are
   * done.
   */
  audit: (interruption: Interruption, progress: (done: number) => void) => Promise<AuditResult>
  onEnd: (result: AuditResult) => void
  /** The host refused a request, so the audit stopped. */
  onFailure: (failure: HostFailure) => void
}

/** After how long an audit that the host has stopped is tried again. */
const RETRY_MS = 15 * 60_000
/** How long an album may go on although something else is due: after it was cut off once, and at most. */
const FIRST_PATIENCE_MS = 2000
const MOST_PATIENCE_MS = 120_000

/**
 * The audit by schedule. It compares album by album while nothing else is due, and goes on after a restart. Its time is
 * attended to only when all albums are compared.
 */
export class ScheduledAudit {
  readonly #options: ScheduledAuditOptions
  readonly #stopped = new AbortController()
  #onDue: () => void = () => {}
  #notBefore = Number.NEGATIVE_INFINITY
  /** How long an album goes on although something else is due. Without that a large album might never be finished. */
  #patienceMs = 0

  constructor(options: ScheduledAuditOptions) {
    this.#options = options
  }

  start(onDue: () => void): void {
    this.#onDue = onDue
    this.#options.schedule.start(onDue)
  }

  isDue(): boolean {
    return this.#options.clock.monotonic() >= this.#notBefore && this.#options.schedule.isDue()
  }

  stop(): void {
    this.#stopped.abort()
    this.#options.schedule.stop()
  }

  /** Resolves when the audit ends, or soon after `elsewhere` says that something else is due. */
  async goOn({ stop, cut }: Interruption, elsewhere: AbortSignal): Promise<void> {
    const { audit, schedule, onEnd } = this.#options
    const impatient = new AbortController()
    const background = new Background()
    background.run(ended => this.#runOutOfPatience(impatient, elsewhere, ended))
    const told: number[] = []
    try {
      const result = await audit(
        { stop: AbortSignal.any([stop, elsewhere]), cut: AbortSignal.any([cut, impatient.signal]) },
        done => told.push(done),
      )
      const [failure] = result.stopped
      if (failure) this.#giveUp(failure)
      else if (result.finished) {
        schedule.attended()
        onEnd(result)
      }
    } finally {
      await background.end()
    }
    const inVain = impatient.signal.aborted && told.at(-1) === told[0]
    this.#patienceMs = inVain
      ? Math.min(Math.max(FIRST_PATIENCE_MS, this.#patienceMs * 2), MOST_PATIENCE_MS)
      : 0
  }

  async #runOutOfPatience(
    impatient: AbortController,
    elsewhere: AbortSignal,
    ended: AbortSignal,
  ): Promise<void> {
    const due = AbortSignal.any([elsewhere, ended])
    if (!due.aborted) await once(due, 'abort')
    if (this.#patienceMs > 0) await this.#options.clock.sleep(this.#patienceMs, ended)
    if (!ended.aborted) impatient.abort()
  }

  /** An audit that plan or key forbid waits for the next scheduled time. Any other is tried again after RETRY_MS. */
  #giveUp(failure: HostFailure): void {
    const { clock, schedule, onFailure } = this.#options
    onFailure(failure)
    if (failure.remedy === 'plan' || failure.remedy === 'key') schedule.attended()
    else {
      this.#notBefore = clock.monotonic() + RETRY_MS
      void clock.sleep(RETRY_MS, this.#stopped.signal).then(this.#onDue)
    }
  }
}
