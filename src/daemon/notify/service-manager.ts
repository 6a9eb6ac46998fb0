import { execFile } from 'node:child_process'
import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../protocol/clock.ts'
import type { Synced } from '../../synced/synced.ts'
import { blockInWords } from '../../words/reasons.ts'
import { count, countEach, inDigits, leftIn, printable } from '../../words/text.ts'
import type { Bus } from '../events.ts'
import { orNull } from '../or-null.ts'
import { type Status, statusOf } from '../report/status.ts'

export interface ServiceManagerOptions {
  /** Sends one notice. Returns what went wrong, or null. */
  send: (notice: Notice) => Promise<string | null>
  clock: Clock
  /** The service manager ends a service that gave no sign of life for so long. Null: it never does. */
  watchdogMs: number | null
  say: (line: string) => void
}

/** Signs of life are sent this many times within the watchdog's time. */
const WATCHDOG_SHARE = 4
/** The shortest time between two status lines. */
const STATUS_MS = 10_000

/** The service manager that started the daemon. Notices go one after the other; one that fails stops nothing else. */
export class ServiceManager {
  readonly #options: ServiceManagerOptions
  #latest: Promise<void> = Promise.resolve()
  #nextSignAt: number
  #state: 'starting' | 'ready' | 'reloading' | 'stopping' = 'starting'
  #statusAt = Number.NEGATIVE_INFINITY
  #status = ''
  #waiting: AbortController | null = null
  #failed = false

  /** How often the service manager needs a sign of life at least, in milliseconds. Infinity: never. */
  readonly signEveryMs: number

  constructor(options: ServiceManagerOptions) {
    const { watchdogMs } = options
    this.#options = options
    this.signEveryMs = (watchdogMs ?? Number.POSITIVE_INFINITY) / WATCHDOG_SHARE
    this.#nextSignAt = watchdogMs === null ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY
  }

  /** Gives a sign of life where one is due. It is cheap, so it may be called at every step. */
  alive(): void {
    const now = this.#options.clock.monotonic()
    if (now < this.#nextSignAt) return
    this.#nextSignAt = now + this.signEveryMs / 2
    this.#tell({ WATCHDOG: '1' })
  }

  /** Says that the daemon works with its config: it has started, or has read its config again. */
  ready(): void {
    if (this.#state === 'ready' || this.#state === 'stopping') return
    this.#state = 'ready'
    this.#tell({ READY: '1' })
  }

  /** Says that the daemon reads its config again. `ready` says that it has read it. */
  reloading(): void {
    if (this.#state !== 'ready') return
    this.#state = 'reloading'
    this.#tell({ RELOADING: '1', MONOTONIC_USEC: String(Math.floor(this.#options.clock.monotonic() * 1000)) })
  }

  stopping(): void {
    if (this.#state === 'stopping') return
    this.#state = 'stopping'
    this.forget()
    this.#tell({ STOPPING: '1', STATUS: 'Stopping: what is under way is finished or journaled' })
  }

  /** Shows one line to people. */
  status(line: string): void {
    this.forget()
    this.#say(line)
  }

  /** Shows the line that `look` returns, as soon as STATUS_MS have passed since the last one. */
  statusSoon(look: () => string): void {
    if (this.#state === 'stopping' || this.#waiting) return
    const { clock } = this.#options
    const waiting = new AbortController()
    this.#waiting = waiting
    void clock.sleep(Math.max(0, this.#statusAt + STATUS_MS - clock.monotonic()), waiting.signal).then(() => {
      if (waiting.signal.aborted) return
      this.#waiting = null
      this.#statusAt = clock.monotonic()
      // `look` throws when the state fails. The supervisor reports such an error, so no status line does.
      const line = orNull(look)
      if (line !== null) this.#say(line)
    })
  }

  /** Drops the `look` of `statusSoon`, because the state that it reads is closed. */
  forget(): void {
    this.#waiting?.abort()
    this.#waiting = null
  }

  /** Resolves when all notices are sent. */
  async settled(): Promise<void> {
    await this.#latest
  }

  #say(text: string): void {
    // The names of files may hold control characters, which no terminal should get.
    const line = printable(text)
    if (line === this.#status) return
    this.#status = line
    this.#tell({ STATUS: line })
  }

  #tell(notice: Notice): void {
    this.#latest = this.#latest.then(async () => {
      const problem = await this.#options.send(notice)
      if (problem !== null && !this.#failed)
        this.#options.say(`the service manager can't be told how albumd is: ${problem}`)
      this.#failed = problem !== null
    })
  }
}

/** The service manager that started this process. Null: no service manager started it. */
export function openServiceManager(
  env: NodeJS.ProcessEnv,
  clock: Clock,
  say: (line: string) => void,
): ServiceManager | null {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID } = env
  if (!NOTIFY_SOCKET) return null
  const isForUs = WATCHDOG_PID === undefined || Number(WATCHDOG_PID) === process.pid
  const watchdogMs = Number(WATCHDOG_USEC) / 1000
  return new ServiceManager({
    send: notice => notifySystemd(notice, env),
    clock,
    watchdogMs: isForUs && watchdogMs > 0 ? watchdogMs : null,
    say,
  })
}

/** The variables of sd_notify(3), such as READY or STATUS, and their values. */
export type Notice = Readonly<Record<string, string>>

/** systemd-notify ends within moments, or hangs for ever. */
const TIMEOUT_MS = 10_000

/** Sends a notice by systemd-notify, because Node has no Unix datagram sockets. Returns what went wrong, or null. */
export function notifySystemd(
  notice: Notice,
  { NOTIFY_SOCKET, PATH }: NodeJS.ProcessEnv,
): Promise<string | null> {
  const words = Object.entries(notice).map(([name, value]) => `${name}=${value}`)
  return new Promise(resolve => {
    // The child must see neither the API key nor the folder in which systemd hands in credentials.
    const env = { NOTIFY_SOCKET, PATH }
    execFile('systemd-notify', ['--', ...words], { env, timeout: TIMEOUT_MS }, (error, _, said) =>
      resolve(error && wording(error, said)),
    )
  })
}

function wording(error: Error & { code?: unknown }, said: string): string {
  if (error.code === 'ENOENT') return 'there is no systemd-notify; it comes with systemd'
  return said.trim().split('\n').at(-1) || error.message
}

/** Sends signs of life and status lines while the daemon works with one state. Returns functions that end this. */
export function reportTo(
  manager: ServiceManager,
  bus: Bus,
  config: Config,
  synced: Synced,
  clock: Clock,
): (() => void)[] {
  const onNews = () => manager.statusSoon(() => statusLine(statusOf(config, synced, true, clock.wall())))
  return [bus.on('alive', () => manager.alive()), bus.on('news', onNews), bus.on('passEnded', onNews)]
}

/** The status in one line, which the service manager shows. The gravest fact comes first. */
export function statusLine({ mirrors, quota, blocks }: Pick<Status, 'mirrors' | 'quota' | 'blocks'>): string {
  const sum = (what: 'files' | 'synced' | 'linked') =>
    mirrors.reduce((total, mirror) => total + mirror[what], 0)
  const guarded = mirrors.find(({ state }) => state === 'guarded')
  const paused = mirrors.find(({ state }) => state === 'paused')
  const blocked = mirrors.some(({ state }) => state === 'blocked') ? blocks[0] : undefined
  const works = mirrors.find(({ state }) => state === 'scanning' || state === 'syncing')
  const parts = [
    ...(guarded ? [`guarded: ${guarded.reason}`] : []),
    ...(paused ? [paused.reason ?? 'paused'] : []),
    ...(blocked ? [`${blockInWords([blocked])} (${blocked.code})`] : []),
    ...(quota.exhausted ? ['the quota of the day is used up'] : []),
    `${inDigits(sum('synced') + sum('linked'))} of ${count(sum('files'), 'picture')} on the host`,
    ...countEach([sum('linked'), 'of them linked, bytes not compared yet'], ...leftIn(mirrors)),
    ...(works ? [works.state] : []),
  ]
  return parts.join('; ')
}
