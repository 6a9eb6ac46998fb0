import { execFile } from 'node:child_process'
import type { Stopwatch } from '../../protocol/clock.ts'

export interface ServiceManagerOptions {
  send: (notice: Notice) => Promise<string | null>
  clock: Stopwatch
  /** For how long a service may give no sign of life before the service manager ends it. Null: the manager never ends it. */
  watchdogMs: number | null
  say: (line: string) => void
}

/** How many signs of life are sent within the watchdog's time. */
const WATCHDOG_SHARE = 4

/** The service manager that started the daemon. Notices go one after the other. A notice that fails stops nothing else. */
export class ServiceManager {
  readonly #options: ServiceManagerOptions
  #latest: Promise<void> = Promise.resolve()
  #nextSignAt: number
  #state: 'starting' | 'ready' | 'reloading' | 'stopping' = 'starting'
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

  /** Says that the daemon reads its config again. A call of `ready` ends this. */
  reloading(): void {
    if (this.#state !== 'ready') return
    this.#state = 'reloading'
    this.#tell({ RELOADING: '1', MONOTONIC_USEC: String(Math.floor(this.#options.clock.monotonic() * 1000)) })
  }

  stopping(): void {
    if (this.#state === 'stopping') return
    this.#state = 'stopping'
    this.#tell({ STOPPING: '1' })
  }

  async settled(): Promise<void> {
    await this.#latest
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

export function openServiceManager(
  env: NodeJS.ProcessEnv,
  clock: Stopwatch,
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
