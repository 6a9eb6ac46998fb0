import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../protocol/clock.ts'
import type { SpokenEvent } from '../../sync/pass-events.ts'
import type { Synced } from '../../synced/synced.ts'
import { printable } from '../../words/text.ts'
import { Bell } from '../bell.ts'
import type { Bus } from '../events.ts'
import { orNull } from '../or-null.ts'
import { statusOf } from '../report/status.ts'
import { type Alert, type Health, healthOf, isTrouble } from './health.ts'
import { recordProblem } from './problem.ts'
import { runCommand } from './run-command.ts'

export type NotifyConfig = Pick<Config['notify'], 'heartbeat' | 'every' | 'on_trouble'>

export interface NotifierOptions {
  notify: NotifyConfig
  clock: Clock
  note: Bus['note']
  /** Sends a heartbeat. Returns what went wrong, or null. */
  beat?: (address: string, oldestUnsyncedMs: number, stop: AbortSignal) => Promise<string | null>
  /** Runs a command. `said`: its environment. Returns what went wrong, or null. */
  runCommand?: (command: string, said: Record<string, string>, stop: AbortSignal) => Promise<string | null>
}

export interface NotifySession {
  notify: NotifyConfig
  /** The keys of the alerts that a person was told. They are kept over restarts. */
  told: { get(): string | null; set(keys: string): void }
  /** Records for `status` how the command or the heartbeat failed. Null: it worked. */
  failed(bell: 'trouble_command_failed' | 'heartbeat_failed', problem: string | null): void
}

const LOOK_MS = 5 * 60_000
const LEAST_MS = 5000
const COMMAND_MS = 60_000
const ALERTS_SAID = 10

/** Sends heartbeats while there is no trouble, and runs a command when the alerts change, one thing at a time. Failures stop
 * nothing. */
export class Notifier {
  readonly #options: Required<NotifierOptions>
  #look: (() => Health) | null = null
  #notify: NotifyConfig
  #session: NotifySession | null = null
  /** The keys of the alerts of which the log has told. Null: not read yet. */
  #noted: string | null = null
  #told: string | null = null
  #toldAt = Number.NEGATIVE_INFINITY
  #commandProblem: string | null = null
  #beatAt = Number.NEGATIVE_INFINITY
  #beatFails = false
  readonly #nudge = new Bell()

  constructor(options: NotifierOptions) {
    this.#options = { beat: sendHeartbeat, runCommand, ...options }
    this.#notify = options.notify
  }

  /** Learns the health by `look` from now on, and looks at once. `session`: null while no state is open. */
  lookAt(look: () => Health, session: NotifySession | null): void {
    this.#look = look
    this.#session = session
    this.#notify = session?.notify ?? this.#notify
    this.nudge()
  }

  nudge(): void {
    this.#nudge.ring()
  }

  async run(stop: AbortSignal): Promise<void> {
    const { clock } = this.#options
    for (let waitMs = LOOK_MS, leastMs = 0; ; leastMs = LEAST_MS) {
      const woken = clock.monotonic() + leastMs
      await this.#nudge.sleep(waitMs, clock, stop)
      await clock.sleep(Math.max(0, woken - clock.monotonic()), stop)
      if (stop.aborted) return
      this.#nudge.heard()
      // `look` throws when the state fails. The supervisor reports such an error, so the notifier does not.
      const health = orNull(() => this.#look?.() ?? null)
      const due = health ? [await this.#tell(health.alerts, stop), await this.#beat(health, stop)] : []
      waitMs = Math.max(0, Math.min(LOOK_MS, ...due.map(at => at - clock.monotonic())))
    }
  }

  /** Tells of alerts that changed. Returns when to look again: a command that failed runs again then. */
  async #tell(alerts: readonly Alert[], stop: AbortSignal): Promise<number> {
    const { clock, note, runCommand } = this.#options
    const keys = keysOf(alerts)
    this.#told ??= orNull(() => this.#session?.told.get() ?? null)
    const told = this.#told ?? ''
    this.#noted ??= told
    if (keys === this.#noted && keys === told) return Number.POSITIVE_INFINITY
    // The command runs at most once a minute. So an alert that begins and ends within this minute is never told.
    const notBefore = this.#toldAt + COMMAND_MS
    if (clock.monotonic() < notBefore) return notBefore
    this.#toldAt = clock.monotonic()
    const [gravest] = alerts
    const message = messageOf(alerts)
    if (keys !== this.#noted)
      note(gravest ? { event: 'trouble', code: gravest.code, message } : { event: 'trouble_resolved' })
    this.#noted = keys
    if (keys === told) return Number.POSITIVE_INFINITY
    const { on_trouble } = this.#notify
    const said = {
      ALBUMD_EVENT: gravest ? 'trouble' : 'resolved',
      ALBUMD_CODE: gravest?.code ?? '',
      ALBUMD_MESSAGE: gravest ? message : 'all is well again',
    }
    const problem = on_trouble === undefined ? null : await runCommand(on_trouble, said, stop)
    if (problem !== null && problem !== this.#commandProblem)
      note({ event: 'trouble_command_failed', message: problem })
    this.#commandProblem = problem
    if (!stop.aborted) this.#record('trouble_command_failed', problem)
    if (problem === null) {
      this.#told = keys
      // A failure is ignored: the same alerts are then told once more after a restart.
      orNull(() => this.#session?.told.set(keys))
    }
    return Number.POSITIVE_INFINITY
  }

  async #beat({ alerts, oldestUnsyncedMs }: Health, stop: AbortSignal): Promise<number> {
    const { clock, note, beat } = this.#options
    const { heartbeat, every } = this.#notify
    if (heartbeat === undefined) this.#record('heartbeat_failed', null)
    if (heartbeat === undefined || alerts.some(isTrouble)) return Number.POSITIVE_INFINITY
    if (clock.monotonic() < this.#beatAt) return this.#beatAt
    this.#beatAt = clock.monotonic() + every
    const problem = await beat(heartbeat, oldestUnsyncedMs, stop)
    if (stop.aborted) return this.#beatAt
    if (problem !== null && !this.#beatFails) note({ event: 'heartbeat_failed', message: problem })
    if (problem === null && this.#beatFails) note({ event: 'heartbeat_works' })
    this.#beatFails = problem !== null
    this.#record('heartbeat_failed', problem)
    return this.#beatAt
  }

  #record(...failed: Parameters<NotifySession['failed']>): void {
    // The records may be closed by now.
    orNull(() => this.#session?.failed(...failed))
  }
}

function keysOf(alerts: readonly Alert[]): string {
  return alerts
    .map(({ key }) => key)
    .sort()
    .join('\n')
}

/** One line for each alert. Control characters are escaped, because the names of files may hold them. */
function messageOf(alerts: readonly Alert[]): string {
  const lines = alerts.slice(0, ALERTS_SAID).map(({ message }) => printable(message))
  const more = alerts.length - lines.length
  return [...lines, ...(more > 0 ? [`and ${more} more`] : [])].join('\n')
}

/** Events after which the health may have changed. Before the first one, the records show the last run's health. */
const NEWS: ReadonlySet<SpokenEvent['event']> = new Set([
  'mirror_guarded',
  'uploads_started',
  'uploads_stopped',
  'picture_failed',
  'deletions_held',
  'deletions_many',
])

/** Shows the notifier the health of a daemon with this state and config. Returns functions that end this. */
export function watchHealth(
  bus: Bus,
  notifier: Notifier,
  config: Config,
  synced: Synced,
  clock: Clock,
): (() => void)[] {
  const { notify } = config
  let aliveAt = clock.monotonic()
  let shown = false
  const look = () => {
    const now = clock.wall()
    return healthOf(statusOf(config, synced, true, now), config, now, clock.monotonic() - aliveAt)
  }
  const told = {
    get: () => synced.meta.get('trouble_told'),
    set: (keys: string) => synced.commitNow(tx => tx.meta.set('trouble_told', keys)),
  }
  const failed: NotifySession['failed'] = (bell, problem) => recordProblem(synced, bell, problem)
  const onNews = () => {
    if (shown) notifier.nudge()
    else notifier.lookAt(look, { notify, told, failed })
    shown = true
  }
  return [
    bus.on('alive', () => {
      aliveAt = clock.monotonic()
    }),
    bus.on('news', ({ event }) => {
      if (NEWS.has(event)) onNews()
    }),
    bus.on('passEnded', onNews),
    bus.on('daemon', ({ event }) => {
      if ((event === 'config_refused' || event === 'key_refused') && shown) notifier.nudge()
    }),
  ]
}

const HEARTBEAT_TIMEOUT_MS = 10_000

/** Sends a GET with `oldest_unsynced`, in seconds. Returns null, or what went wrong without the secret address. */
export async function sendHeartbeat(
  address: string,
  oldestUnsyncedMs: number,
  stop: AbortSignal,
  timeoutMs: number = HEARTBEAT_TIMEOUT_MS,
): Promise<string | null> {
  // undici is loaded only here, because it takes 6 MB of memory, and many configs name no heartbeat.
  const { request } = await import('undici')
  const url = new URL(address)
  url.searchParams.set('oldest_unsynced', String(Math.floor(oldestUnsyncedMs / 1000)))
  const ended = AbortSignal.timeout(timeoutMs)
  try {
    const { statusCode, body } = await request(url, {
      reset: true,
      headers: { 'user-agent': 'albumd' },
      signal: AbortSignal.any([stop, ended]),
    })
    body.dump().catch(() => {})
    if (statusCode >= 200 && statusCode < 300) return null
    return statusCode < 400
      ? `it was redirected (${statusCode}); write the address that it leads to`
      : `the answer was ${statusCode}`
  } catch (error) {
    if (ended.aborted) return `no answer within ${timeoutMs / 1000} s`
    const { code } = error as { code?: unknown }
    return typeof code === 'string' ? code : 'it could not be sent'
  }
}
