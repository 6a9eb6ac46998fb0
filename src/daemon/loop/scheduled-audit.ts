import type { HostFailure } from '../../remote/host.ts'
import type { Clock } from '../../sync/clock.ts'
import type { Interruption } from '../../sync/interruption.ts'
import type { AuditResult } from './audit.ts'
import type { Recurring } from './schedule.ts'

export interface ScheduledAuditParts {
  clock: Clock
  schedule: Recurring
  /**
   * Begins an audit, or goes on with the one that was begun. Repairs nothing. `progress` is told how many albums are
   * done.
   */
  audit: (interruption: Interruption, progress: (done: number) => void) => Promise<AuditResult>
  onEnd: (result: AuditResult) => void
  /** The host did not let it go on. */
  onFailure: (failure: HostFailure) => void
}

/** After a host that could not be asked. */
const RETRY_MS = 15 * 60_000
/** What an album that was cut off has more time for: the first time, and at most. */
const FIRST_PATIENCE_MS = 2000
const MOST_PATIENCE_MS = 120_000

/**
 * The audit that comes by itself. It goes album by album while nothing else is to be done, over restarts too: what is
 * due is attended to once it has ended.
 */
export class ScheduledAudit {
  readonly #parts: ScheduledAuditParts
  readonly #stopped = new AbortController()
  #onDue: () => void = () => {}
  #notBefore = Number.NEGATIVE_INFINITY
  /** For so long an album goes on though something else is to be done: else a large one might never end. */
  #patienceMs = 0

  constructor(parts: ScheduledAuditParts) {
    this.#parts = parts
  }

  start(onDue: () => void): void {
    this.#onDue = onDue
    this.#parts.schedule.start(onDue)
  }

  isDue(): boolean {
    return this.#parts.clock.monotonic() >= this.#notBefore && this.#parts.schedule.isDue()
  }

  stop(): void {
    this.#stopped.abort()
    this.#parts.schedule.stop()
  }

  /** Ends with the audit, or soon after `elsewhere`: something else is to be done. */
  async goOn({ stop, cut }: Interruption, elsewhere: AbortSignal): Promise<void> {
    const { audit, schedule, onEnd } = this.#parts
    const impatient = new AbortController()
    const ended = new AbortController()
    const waiting = this.#runOutOfPatience(impatient, elsewhere, ended.signal)
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
      ended.abort()
      await waiting
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
    await abortOf(AbortSignal.any([elsewhere, ended]))
    if (this.#patienceMs > 0) await this.#parts.clock.sleep(this.#patienceMs, ended)
    if (!ended.aborted) impatient.abort()
  }

  /** What the plan or the key forbids waits for the next time, anything else not so long. */
  #giveUp(failure: HostFailure): void {
    const { clock, schedule, onFailure } = this.#parts
    onFailure(failure)
    if (failure.remedy === 'plan' || failure.remedy === 'key') schedule.attended()
    else {
      this.#notBefore = clock.monotonic() + RETRY_MS
      void clock.sleep(RETRY_MS, this.#stopped.signal).then(this.#onDue)
    }
  }
}

function abortOf(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
