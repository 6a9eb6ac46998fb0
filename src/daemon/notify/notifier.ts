import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../sync/clock.ts'
import type { Bus } from '../events.ts'
import type { Alert, Health } from './alert.ts'

export type NotifyConfig = Pick<Config['notify'], 'heartbeat' | 'every' | 'on_trouble'>

export interface NotifierParts {
  /** As the daemon starts with it. */
  notify: NotifyConfig
  clock: Clock
  note: Bus['note']
  /** Answers what went wrong, or null. */
  beat: (address: string, oldestUnsyncedMs: number, stop: AbortSignal) => Promise<string | null>
  /** The same. `said`: what the command is told. */
  runCommand: (command: string, said: Record<string, string>, stop: AbortSignal) => Promise<string | null>
}

/** What goes with a state that is open. */
export interface NotifySession {
  notify: NotifyConfig
  /** Where it is kept over restarts which alerts were told: their keys. */
  told: { get(): string | null; set(keys: string): void }
}

/** How often health is looked at where nothing happens. */
const LOOK_MS = 5 * 60_000
/** Not more often, whatever happens. */
const LEAST_MS = 5000
/** The command runs so often at most. */
const COMMAND_MS = 60_000
/** One that fails runs again so long after each failure: what it tells by may be away as well. Then no more. */
const AGAIN_MS = [COMMAND_MS, 5 * COMMAND_MS, 30 * COMMAND_MS, 120 * COMMAND_MS]
/** In a message. */
const TROUBLES_SAID = 10

/**
 * Tells others how albumd is: a heartbeat while all is well, a command when trouble begins, changes and ends. One thing
 * at a time; no failure of theirs stops anything.
 */
export class Notifier {
  readonly #parts: NotifierParts
  #look: (() => Health) | null = null
  #notify: NotifyConfig
  #kept: NotifySession['told'] | null = null
  #told: string | null = null
  #lastCommandAt = Number.NEGATIVE_INFINITY
  /** In a row, of the command that is to tell of the same. */
  #commandFailures = 0
  /** When it runs again. */
  #commandAgainAt = Number.POSITIVE_INFINITY
  #lastLookAt = Number.NEGATIVE_INFINITY
  #beatAt = Number.NEGATIVE_INFINITY
  #beatFails = false
  #well = false
  #waits = false
  #nudge = new AbortController()

  constructor(parts: NotifierParts) {
    this.#parts = parts
    this.#notify = parts.notify
  }

  /** What is looked at from here on, and at once. `session` null: no state is open. */
  lookAt(look: () => Health, session: NotifySession | null): void {
    const { on_trouble } = this.#notify
    this.#look = look
    this.#kept = session?.told ?? null
    this.#notify = session?.notify ?? this.#notify
    // A person may have mended it.
    if (this.#commandFailures > 0 && this.#notify.on_trouble !== on_trouble) {
      this.#commandFailures = 0
      this.#commandAgainAt = this.#parts.clock.monotonic()
    }
    this.nudge()
  }

  /** Something has happened: it may be time for a look. */
  nudge(): void {
    this.#nudge.abort()
  }

  async run(stop: AbortSignal): Promise<void> {
    const { clock } = this.#parts
    while (!stop.aborted) {
      await clock.sleep(this.#restMs(), AbortSignal.any([stop, this.#nudge.signal]))
      const early = this.#lastLookAt + LEAST_MS - clock.monotonic()
      if (early > 0) await clock.sleep(early, stop)
      if (stop.aborted) return
      this.#nudge = new AbortController()
      const health = this.#health()
      this.#well = health?.alerts.length === 0
      if (health === null) continue
      await this.#tell(health.alerts, stop)
      if (this.#well) await this.#beat(health, stop)
    }
  }

  #restMs(): number {
    const now = this.#parts.clock.monotonic()
    if (this.#look === null) return LOOK_MS
    const { heartbeat } = this.#notify
    const due = [
      this.#lastLookAt + LOOK_MS,
      ...(heartbeat === undefined || !this.#well ? [] : [this.#beatAt]),
      ...(this.#waits ? [this.#lastCommandAt + COMMAND_MS] : []),
      this.#commandAgainAt,
    ]
    return Math.max(0, Math.min(...due) - now)
  }

  /** Null: it can't be told. What keeps the state from being read tells of itself. */
  #health(): Health | null {
    this.#lastLookAt = this.#parts.clock.monotonic()
    try {
      return this.#look?.() ?? null
    } catch {
      return null
    }
  }

  async #tell(alerts: readonly Alert[], stop: AbortSignal): Promise<void> {
    const { clock, note } = this.#parts
    this.#told ??= this.#recall()
    const keys = keysOf(alerts)
    const isNews = keys !== (this.#told ?? '')
    const now = clock.monotonic()
    // What comes and goes within the minute is never told.
    this.#waits = isNews && now - this.#lastCommandAt < COMMAND_MS
    if (this.#waits || (!isNews && now < this.#commandAgainAt)) return
    if (isNews) {
      this.#told = keys
      this.#commandFailures = 0
      const [gravest] = alerts
      if (gravest) note({ event: 'trouble', code: gravest.code, message: messageOf(alerts) })
      else note({ event: 'trouble_resolved' })
    }
    if (await this.#runCommand(alerts, stop)) this.#remember(keys)
  }

  /** Answers whether it is done with: it ran well, or failed for good. */
  async #runCommand(alerts: readonly Alert[], stop: AbortSignal): Promise<boolean> {
    const { clock, note, runCommand } = this.#parts
    const { on_trouble } = this.#notify
    const [gravest] = alerts
    this.#lastCommandAt = clock.monotonic()
    this.#commandAgainAt = Number.POSITIVE_INFINITY
    if (on_trouble === undefined) return true
    const said = {
      ALBUMD_EVENT: gravest ? 'trouble' : 'resolved',
      ALBUMD_CODE: gravest?.code ?? '',
      ALBUMD_MESSAGE: gravest ? messageOf(alerts) : 'all is well again',
    }
    const problem = await runCommand(on_trouble, said, stop)
    if (problem === null) {
      this.#commandFailures = 0
      return true
    }
    note({ event: 'trouble_command_failed', message: problem })
    // It may have told nobody: where albumd ends before it runs again, it does so after the next start.
    if (stop.aborted) return false
    const againMs = AGAIN_MS[this.#commandFailures++]
    if (againMs !== undefined) this.#commandAgainAt = clock.monotonic() + againMs
    return againMs === undefined
  }

  async #beat({ oldestUnsyncedMs }: Health, stop: AbortSignal): Promise<void> {
    const { clock, note, beat } = this.#parts
    const { heartbeat, every } = this.#notify
    if (heartbeat === undefined || clock.monotonic() < this.#beatAt) return
    this.#beatAt = clock.monotonic() + every
    const problem = await beat(heartbeat, oldestUnsyncedMs, stop)
    if (stop.aborted) return
    if (problem !== null && !this.#beatFails) note({ event: 'heartbeat_failed', message: problem })
    if (problem === null && this.#beatFails) note({ event: 'heartbeat_works' })
    this.#beatFails = problem !== null
  }

  /** Null where it is not known. */
  #recall(): string | null {
    try {
      return this.#kept?.get() ?? null
    } catch {
      return null
    }
  }

  /** A courtesy: where it can't be kept, it is told once more after a restart. */
  #remember(keys: string): void {
    try {
      this.#kept?.set(keys)
    } catch {
      return
    }
  }
}

function keysOf(alerts: readonly Alert[]): string {
  return alerts
    .map(({ key }) => key)
    .sort()
    .join('\n')
}

/** A line each. The names of files may hold what no terminal, and no environment, should see. */
function messageOf(alerts: readonly Alert[]): string {
  const lines = alerts.slice(0, TROUBLES_SAID).map(({ message }) => message.replace(/\p{C}/gu, '?'))
  const more = alerts.length - lines.length
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n')
}
