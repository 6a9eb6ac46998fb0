import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../sync/clock.ts'
import type { PassEvent } from '../../sync/pass-events.ts'
import type { Synced } from '../../synced/synced.ts'
import type { Note } from '../daemon-event.ts'
import type { Listener } from '../listener.ts'
import { statusOf } from '../report/status.ts'
import { type Health, healthOf } from './alert.ts'
import { childEnvironment } from './child-environment.ts'
import { sendHeartbeat } from './heartbeat.ts'
import { Notifier } from './notifier.ts'
import { runCommand } from './run-command.ts'

/** After these there may be something to tell. Before the first of them the records are those of another time. */
const NEWS: ReadonlySet<PassEvent['event']> = new Set([
  'mirror_guarded',
  'uploads_started',
  'uploads_stopped',
  'picture_failed',
  'deletions_held',
])

/** Shows a notifier how the daemon is, while it works with one state and one config. */
export class HealthWatch {
  readonly #notifier: Notifier
  readonly #config: Config
  readonly #synced: Synced
  readonly #clock: Clock
  #signAt: number
  #shown = false

  constructor(notifier: Notifier, config: Config, synced: Synced, clock: Clock) {
    this.#notifier = notifier
    this.#config = config
    this.#synced = synced
    this.#clock = clock
    this.#signAt = clock.monotonic()
  }

  /** The same listener, and this one beside it. */
  beside(listener: Listener): Listener {
    return {
      ...listener,
      alive: () => {
        listener.alive?.()
        this.#alive()
      },
      tell: told => {
        listener.tell(told)
        if (NEWS.has(told.event)) this.#news()
      },
      onPass: synced => {
        listener.onPass(synced)
        this.#news()
      },
    }
  }

  #alive(): void {
    this.#signAt = this.#clock.monotonic()
  }

  #news(): void {
    if (this.#shown) {
      this.#notifier.nudge()
      return
    }
    this.#shown = true
    const { meta } = this.#synced
    const { notify } = this.#config
    this.#notifier.lookAt(
      () => {
        const now = this.#clock.wall()
        const quietMs = this.#clock.monotonic() - this.#signAt
        const status = statusOf(this.#config, this.#synced, true, now)
        return healthOf(status, notify.max_age, now, quietMs)
      },
      {
        notify,
        told: {
          get: () => meta.get('trouble_told'),
          set: keys => this.#synced.commitNow(tx => tx.meta.set('trouble_told', keys)),
        },
      },
    )
  }
}

export function openNotifier({ notify }: Pick<Config, 'notify'>, clock: Clock, note: Note): Notifier {
  return new Notifier({
    notify,
    clock,
    note,
    beat: sendHeartbeat,
    runCommand: (command, said, stop) =>
      runCommand(command, { ...childEnvironment(process.env), ...said }, stop),
  })
}

/** What keeps the daemon from its state. */
export function stateProblem(line: string): () => Health {
  return () => ({ alerts: [{ key: 'STATE', code: 'STATE', message: line }], oldestUnsyncedMs: 0 })
}
