import { createTask, type ScheduledTask } from 'node-cron'

/** A time that comes again and again. */
export interface Recurring {
  /** Calls `onDue` each time. */
  start(onDue: () => void): void
  /** Whether a time has come since the last `attended`. Several missed times count as one. */
  isDue(): boolean
  /** The work is done: nothing is due until the next time. */
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
 * late. So the next time is kept, and a time that passed while albumd did not run or the machine slept is made up for.
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

/** For work that a start does anyway, so that nothing is to be made up for. */
export function slotInMemory(): KeptSlot {
  let slot: number | null = null
  return {
    get: () => slot,
    set: next => {
      slot = next
    },
  }
}
