import { createTask, type ScheduledTask } from 'node-cron'

/** Something that recurs. */
export interface Recurring {
  /** `onDue` is told of each time that comes. */
  start(onDue: () => void): void
  /** Whether a time has come that was not attended to. Several that were missed are one. */
  isDue(): boolean
  /** What was due is attended to, until the next time. */
  attended(): void
  stop(): void
}

/** Where the next time is kept, in milliseconds since 1970. Null: not known yet. */
export interface KeptSlot {
  get(): number | null
  set(slot: number): void
}

/**
 * A cron expression's times, by this machine's clock. node-cron only tells those that it is awake for: it skips what is
 * over a second late. So the next time is kept, and one that went by while albumd did not run, or the machine slept, is
 * made up for.
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
    // A clock that was set back, or another expression, has an earlier one.
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

/** For what needs no making up after a start. */
export function slotInMemory(): KeptSlot {
  let slot: number | null = null
  return {
    get: () => slot,
    set: next => {
      slot = next
    },
  }
}
