import type { Clock } from '../../protocol/clock.ts'
import type { Scope } from '../../sync/pass-request.ts'
import { Bell } from '../bell.ts'

/** How long a scan waits, because events come in bursts: until there was no event for `quietMs`, but at most `burstMs`. */
interface Patience {
  quietMs: number
  burstMs: number
}

/** A short wait, for a picture that a person has just saved. */
const EAGER: Patience = { quietMs: 5, burstMs: 50 }
/** A long wait, for a file that is written all the time, such as a film. Most scans of its folder find nothing to upload. */
const CALM: Patience = { quietMs: 200, burstMs: 2000 }
/** How many scans in a row wait as EAGER says, before CALM holds. Each upload and every EAGER_AGAIN_MS allow one more. */
const EAGER_LOOKS = 30
const EAGER_AGAIN_MS = 200

export class StaleFolders {
  readonly #stale = new Map<string, Set<string> | 'everything'>()
  readonly #clock: Clock
  readonly #added = new Bell()
  #addedAt = 0
  #eagerLooks = EAGER_LOOKS
  #countedAt = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  add(mirror: string, scope: Scope): void {
    if (scope.length === 0) return
    const known = this.#stale.get(mirror)
    if (scope === 'everything') this.#stale.set(mirror, scope)
    else if (known === undefined) this.#stale.set(mirror, new Set(scope))
    else if (known !== 'everything') for (const folder of scope) known.add(folder)
    this.#addedAt = this.#clock.monotonic()
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

  /** Ends the wait of the caller, even when no folder is stale. */
  wake(): void {
    this.#added.ring()
  }

  /** Allows one more scan after an EAGER wait, because a picture was uploaded. */
  uploaded(): void {
    this.#eagerLooks++
  }

  /** Waits until a folder is stale and its events pause, but at most `mostMs`. Only one caller may wait at a time. */
  async wait(mostMs: number, stop: AbortSignal): Promise<void> {
    const clock = this.#clock
    const end = clock.monotonic() + mostMs
    this.#added.heard()
    if (this.#stale.size === 0 && !(await this.#added.sleep(mostMs, clock, stop))) return
    if (this.#stale.size === 0) return
    const { quietMs, burstMs } = this.#patience(clock.monotonic())
    const burstEnd = Math.min(end, clock.monotonic() + burstMs)
    // The time is checked after each sleep, which events do not end: a burst has tens of thousands of them.
    while (!stop.aborted) {
      const left = Math.min(this.#addedAt + quietMs, burstEnd) - clock.monotonic()
      if (left <= 0) return
      await clock.sleep(left, stop)
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
}
