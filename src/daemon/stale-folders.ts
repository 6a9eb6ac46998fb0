import type { Clock } from '../sync/clock.ts'
import type { Scope } from '../sync/mirror-scans.ts'

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

  /** Waits until a folder is stale and events have paused for `quietMs`, or `mostMs` have passed. */
  async wait(mostMs: number, quietMs: number, clock: Clock, stop: AbortSignal): Promise<void> {
    if (this.#stale.size === 0) await this.#eventWithin(mostMs, clock, stop)
    while (this.#stale.size > 0 && !stop.aborted) if (!(await this.#eventWithin(quietMs, clock, stop))) return
  }

  async #eventWithin(ms: number, clock: Clock, stop: AbortSignal): Promise<boolean> {
    const came = new AbortController()
    this.#wake = () => came.abort()
    await clock.sleep(ms, AbortSignal.any([came.signal, stop]))
    this.#wake = () => {}
    return came.signal.aborted
  }
}
