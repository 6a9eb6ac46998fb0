import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../sync/clock.ts'
import type { Note } from '../daemon-event.ts'
import type { Health, Trouble } from './trouble.ts'

export type NotifyConfig = Pick<Config['notify'], 'heartbeat' | 'every' | 'on_trouble'>

export interface NotifierParts {
  /** As the daemon starts with it. */
  notify: NotifyConfig
  clock: Clock
  note: Note
  /** Answers what went wrong, or null. */
  beat: (address: string, oldestUnsyncedMs: number, stop: AbortSignal) => Promise<string | null>
  /** The same. `said`: what the command is told. */
  runCommand: (command: string, said: Record<string, string>, stop: AbortSignal) => Promise<string | null>
}

/** What goes with a state that is open. */
export interface NotifySession {
  notify: NotifyConfig
  /** Where it is kept over restarts which troubles were told: their keys. */
  told: { get(): string | null; set(keys: string): void }
}

/** How often health is looked at where nothing happens. */
const LOOK_MS = 5 * 60_000
/** Not more often, whatever happens. */
const LEAST_MS = 5000
/** The command runs so often at most. */
const COMMAND_MS = 60_000
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
    this.#look = look
    this.#kept = session?.told ?? null
    this.#notify = session?.notify ?? this.#notify
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
      this.#well = health?.troubles.length === 0
      if (health === null) continue
      await this.#tell(health.troubles, stop)
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

  async #tell(troubles: readonly Trouble[], stop: AbortSignal): Promise<void> {
    const { clock, note, runCommand } = this.#parts
    const { on_trouble } = this.#notify
    this.#told ??= this.#recall()
    const keys = keysOf(troubles)
    this.#waits = keys !== (this.#told ?? '')
    // What comes and goes within the minute is never told.
    if (!this.#waits || clock.monotonic() - this.#lastCommandAt < COMMAND_MS) return
    this.#told = keys
    this.#waits = false
    this.#lastCommandAt = clock.monotonic()
    const [gravest] = troubles
    const message = messageOf(troubles)
    if (gravest) note({ event: 'trouble', code: gravest.code, message })
    else note({ event: 'trouble_resolved' })
    if (on_trouble === undefined) return this.#remember(keys)
    const said = {
      ALBUMD_EVENT: gravest ? 'trouble' : 'resolved',
      ALBUMD_CODE: gravest?.code ?? '',
      ALBUMD_MESSAGE: gravest ? message : 'all is well again',
    }
    const problem = await runCommand(on_trouble, said, stop)
    if (problem !== null) note({ event: 'trouble_command_failed', message: problem })
    // A command that was cut off may have told nobody: it runs again after the next start.
    if (problem === null || !stop.aborted) this.#remember(keys)
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

function keysOf(troubles: readonly Trouble[]): string {
  return troubles
    .map(({ key }) => key)
    .sort()
    .join('\n')
}

/** A line each. The names of files may hold what no terminal, and no environment, should see. */
function messageOf(troubles: readonly Trouble[]): string {
  const lines = troubles.slice(0, TROUBLES_SAID).map(({ message }) => message.replace(/\p{C}/gu, '?'))
  const more = troubles.length - lines.length
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n')
}
