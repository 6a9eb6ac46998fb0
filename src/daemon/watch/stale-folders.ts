import type { Clock } from '../../sync/clock.ts'
import type { Scope } from '../../sync/pass-request.ts'
import { Bell } from '../bell.ts'

/** Events come in bursts. A scan waits until no event has come for `quietMs`, but at most `burstMs`. */
interface Patience {
  quietMs: number
  burstMs: number
}

/** For a picture that a person has just saved. */
const EAGER: Patience = { quietMs: 5, burstMs: 50 }
/** For a file that is written all the time, such as a film. Most scans find nothing to upload. */
const CALM: Patience = { quietMs: 200, burstMs: 2000 }
/**
 * How many scans in a row wait only as long as EAGER says. Each uploaded picture, and every EAGER_AGAIN_MS, allow one more
 * such scan.
 */
const EAGER_LOOKS = 30
const EAGER_AGAIN_MS = 200

/** The folders that must be scanned. The watchers add them, the daemon's loop takes them. */
export class StaleFolders {
  readonly #stale = new Map<string, Set<string> | 'everything'>()
  readonly #added = new Bell()
  #eagerLooks = EAGER_LOOKS
  #countedAt = 0

  add(mirror: string, scope: Scope): void {
    if (scope.length === 0) return
    const known = this.#stale.get(mirror)
    if (scope === 'everything') this.#stale.set(mirror, scope)
    else if (known === undefined) this.#stale.set(mirror, new Set(scope))
    else if (known !== 'everything') for (const folder of scope) known.add(folder)
    this.#added.ring()
  }

  get any(): boolean {
    return this.#stale.size > 0
  }

  take(): Map<string, Scope> {
    const taken = [...this.#stale]
    this.#stale.clear()
    return new Map(
      taken.map(([mirror, folders]) => [mirror, folders === 'everything' ? folders : [...folders]]),
    )
  }

  /** A picture was uploaded, so a scan was worth its time. */
  uploaded(): void {
    this.#eagerLooks++
  }

  /**
   * Waits until a folder is stale and its burst of events has paused, or `mostMs` have passed. Only one caller may wait
   * at a time.
   */
  async wait(mostMs: number, clock: Clock, stop: AbortSignal): Promise<void> {
    const end = clock.monotonic() + mostMs
    if (this.#stale.size === 0 && !(await this.#eventWithin(mostMs, clock, stop))) return
    const { quietMs, burstMs } = this.#patience(clock.monotonic())
    const burstEnd = Math.min(end, clock.monotonic() + burstMs)
    for (let more = true; more && !stop.aborted; ) {
      const left = burstEnd - clock.monotonic()
      if (left <= 0) return
      more = await this.#eventWithin(Math.min(quietMs, left), clock, stop)
    }
  }

  #patience(now: number): Patience {
    const earned = (now - this.#countedAt) / EAGER_AGAIN_MS
    this.#countedAt = now
    this.#eagerLooks = Math.min(EAGER_LOOKS, this.#eagerLooks + earned)
    if (this.#eagerLooks < 1) return CALM
    this.#eagerLooks--
    return EAGER
  }

  #eventWithin(ms: number, clock: Clock, stop: AbortSignal): Promise<boolean> {
    this.#added.heard()
    return this.#added.sleep(ms, clock, stop)
  }
}
