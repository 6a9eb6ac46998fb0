import type { Clock } from '../../sync/clock.ts'
import { type Notice, notifySystemd } from './systemd-notify.ts'

export interface ServiceManagerParts {
  /** Tells it one thing; answers what went wrong, or null. */
  send: (notice: Notice) => Promise<string | null>
  clock: Clock
  /** It ends a service that was silent for so long. Null: it waits for ever. */
  watchdogMs: number | null
  /** Something that a person should know. */
  say: (line: string) => void
}

/** Of a watchdog's time, what may pass between two signs. */
const WATCHDOG_SHARE = 4
/** Not more often, whatever happens. */
const STATUS_MS = 10_000

/** Whoever started the daemon and keeps it up. One word after the other; no failure of theirs stops anything. */
export class ServiceManager {
  readonly #parts: ServiceManagerParts
  #latest: Promise<void> = Promise.resolve()
  #signAt = Number.NEGATIVE_INFINITY
  #state: 'starting' | 'ready' | 'reloading' | 'stopping' = 'starting'
  #statusAt = Number.NEGATIVE_INFINITY
  #status = ''
  #look: (() => string) | null = null
  #waiting: AbortController | null = null
  #failed = false

  constructor(parts: ServiceManagerParts) {
    this.#parts = parts
  }

  /** So often at least it wants a sign of life, in milliseconds. */
  get signEveryMs(): number {
    const { watchdogMs } = this.#parts
    return watchdogMs === null ? Number.POSITIVE_INFINITY : watchdogMs / WATCHDOG_SHARE
  }

  /** Something was done. Cheap: it may be called at every step. */
  alive(): void {
    const { watchdogMs, clock } = this.#parts
    if (watchdogMs === null || clock.monotonic() - this.#signAt < this.signEveryMs / 2) return
    this.#signAt = clock.monotonic()
    this.#tell({ WATCHDOG: '1' })
  }

  /** The daemon works with its config, from its start or again. */
  ready(): void {
    if (this.#state === 'ready' || this.#state === 'stopping') return
    this.#state = 'ready'
    this.#tell({ READY: '1' })
  }

  /** The config is read again, until `ready`. */
  reloading(): void {
    if (this.#state !== 'ready') return
    this.#state = 'reloading'
    this.#tell({ RELOADING: '1', MONOTONIC_USEC: String(Math.floor(this.#parts.clock.monotonic() * 1000)) })
  }

  stopping(): void {
    if (this.#state === 'stopping') return
    this.#state = 'stopping'
    this.#endLook()
    this.#tell({ STOPPING: '1', STATUS: 'Stopping: what is under way is finished or journaled' })
  }

  /** What a person reads of it: one line. */
  status(line: string): void {
    this.#endLook()
    this.#say(line)
  }

  /** The same, looked up when it is time to tell something. */
  statusSoon(look: () => string): void {
    if (this.#state === 'stopping') return
    this.#look = look
    const waitMs = this.#statusAt + STATUS_MS - this.#parts.clock.monotonic()
    if (waitMs <= 0) this.#lookNow()
    else if (this.#waiting === null) void this.#lookIn(waitMs)
  }

  /** What `statusSoon` would look at is there no longer. */
  forget(): void {
    this.#endLook()
  }

  /** All was told. */
  async settled(): Promise<void> {
    await this.#latest
  }

  async #lookIn(ms: number): Promise<void> {
    const waiting = new AbortController()
    this.#waiting = waiting
    await this.#parts.clock.sleep(ms, waiting.signal)
    if (!waiting.signal.aborted) this.#lookNow()
  }

  #lookNow(): void {
    const look = this.#look
    this.#endLook()
    this.#statusAt = this.#parts.clock.monotonic()
    try {
      if (look) this.#say(look())
    } catch {
      // What keeps the state from being read tells of itself.
    }
  }

  #endLook(): void {
    this.#waiting?.abort()
    this.#waiting = null
    this.#look = null
  }

  #say(text: string): void {
    // The names of files may hold what no terminal should see.
    const line = text.replace(/\p{C}/gu, '?')
    if (line === this.#status) return
    this.#status = line
    this.#tell({ STATUS: line })
  }

  #tell(notice: Notice): void {
    this.#latest = this.#latest.then(async () => {
      const problem = await this.#parts.send(notice)
      if (problem !== null && !this.#failed)
        this.#parts.say(`the service manager can't be told how albumd is: ${problem}`)
      this.#failed = problem !== null
    })
  }
}

/** The one that started this process, or null. */
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
