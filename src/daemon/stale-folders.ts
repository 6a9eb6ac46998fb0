import type { Clock } from '../sync/clock.ts'
import type { Scope } from '../sync/mirror-scans.ts'

/** Events come in bursts: a look waits until they pause for this long. */
const QUIET_MS = 200
/** A burst without end is looked at all the same. */
const BURST_MS = 2000

/** Which folders need a look. Watchers add, the daemon's loop takes. */
export class StaleFolders {
  readonly #stale = new Map<string, Set<string> | 'everything'>()
  #wake: () => void = () => {}

  /** `folder` is below the root of `mirror`. */
  add(mirror: string, folder: string | { everything: true }): void {
    const known = this.#stale.get(mirror)
    if (typeof folder !== 'string') this.#stale.set(mirror, 'everything')
    else if (known === undefined) this.#stale.set(mirror, new Set([folder]))
    else if (known !== 'everything') known.add(folder)
    this.#wake()
  }

  take(): Map<string, Scope> {
    const taken = new Map<string, Scope>()
    for (const [mirror, folders] of this.#stale)
      taken.set(mirror, folders === 'everything' ? folders : [...folders])
    this.#stale.clear()
    return taken
  }

  /**
   * Waits until a folder is stale and its burst of events has paused, or `mostMs` have passed. One waits at a time.
   */
  async wait(mostMs: number, clock: Clock, stop: AbortSignal): Promise<void> {
    const end = clock.monotonic() + mostMs
    if (this.#stale.size === 0 && !(await this.#eventWithin(mostMs, clock, stop))) return
    const burstEnd = Math.min(end, clock.monotonic() + BURST_MS)
    for (let more = true; more && !stop.aborted; ) {
      const left = burstEnd - clock.monotonic()
      if (left <= 0) return
      more = await this.#eventWithin(Math.min(QUIET_MS, left), clock, stop)
    }
  }

  async #eventWithin(ms: number, clock: Clock, stop: AbortSignal): Promise<boolean> {
    const came = new AbortController()
    this.#wake = () => came.abort()
    await clock.sleep(ms, AbortSignal.any([came.signal, stop]))
    this.#wake = () => {}
    return came.signal.aborted
  }
}
