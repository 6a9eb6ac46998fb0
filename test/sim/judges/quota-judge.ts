import { DAY_MS } from '../../../src/protocol/clock.ts'
import type { Facts, QuotaWatch } from './facts.ts'

/** A used-up quota that the host told of. Times are of the machine's clock. */
interface Refusal {
  /** Since the host last gave leave, when it first said so. */
  first: number
  /** An earlier one, of which a process that ended may have written down that it heard it; null: there was none. */
  perhapsFirst: number | null
  at: number
  /** The newest request when its answer came: those up to it were under way. */
  newest: number
}

/** What albumd knows of the quota. */
export interface Known {
  refusal: Refusal | null
  /** What a process heard as it ended, and may have written down. */
  unsure: Refusal | null
}

const NOTHING: Known = { refusal: null, unsure: null }

/** What a process hears it has written down within so long. */
const RECORDED_MS = 50
/** Reading the clock, and writing down what it shows, take a moment. */
const MOMENT_MS = 50
/** Albumd may ask so much later than it could. */
const LATE_MS = 60_000

/** Judges uploads that keep asking once the host has said that the day's quota is used up. That is known once the answer
 * has reached the process, and to later processes where it had the time to write it down; with the state it is lost.
 * Until the day is over albumd asks once in `probe_every`; where the config tells when the day begins, not before that.
 * All that by the machine's clock: one that is set forward makes it later, and one that is set back tells nothing, so
 * that albumd may ask. Nobody asks by hand here (`retry`), and the host tells no end (`Retry-After`).
 *
 * How many requests leave in a second is the gate's matter, which is below the port that is played here: its tests are
 * in `test/remote`. */
export class QuotaJudge implements QuotaWatch {
  /** Whether the host ever said so: from then on albumd's days may be other ones. */
  wasRefused = false
  readonly #facts: Pick<Facts, 'wall' | 'now' | 'allowance'>
  readonly #report: (invariant: string, what: string) => void
  #requests = 0
  #known = NOTHING
  /** What was known before, and true time of the change. */
  #before = NOTHING
  #changedAt = 0

  constructor(
    facts: Pick<Facts, 'wall' | 'now' | 'allowance'>,
    report: (invariant: string, what: string) => void,
  ) {
    this.#facts = facts
    this.#report = report
  }

  asked(): number {
    const { refusal, unsure } = this.#known
    const isDue = refusal === null || this.#isDue(refusal) || (unsure !== null && this.#isDue(unsure))
    if (!isDue) {
      const ago = this.#facts.wall() - refusal.at
      this.#report('quota-is-believed', `an upload was asked for ${ago} ms after the quota was used up`)
    }
    return ++this.#requests
  }

  granted(request: number): void {
    const { refusal } = this.#known
    if (refusal && request > refusal.newest) this.#change(NOTHING)
  }

  refused(request: number): void {
    this.wasRefused = true
    const { refusal, unsure } = this.#known
    if (refusal && request <= refusal.newest) return
    const at = this.#facts.wall()
    // A clock that was set back shows that it was wrong before.
    const first = Math.min(refusal?.first ?? at, at)
    const said = {
      first,
      perhapsFirst: unsure?.first ?? refusal?.perhapsFirst ?? null,
      at,
      newest: this.#requests,
    }
    this.#change({ refusal: said, unsure: null })
  }

  /** A pass begins: what the host has refused, about which albumd is to ask by now. Null: nothing. */
  due(): Refusal | null {
    const { refusal } = this.#known
    const since = this.#facts.wall() - LATE_MS
    return refusal && since >= refusal.at && this.#isDue(refusal, since) ? refusal : null
  }

  /** The pass has ended its uploads because the quota is used up. `due`: as it was when the pass began. */
  stopped(due: Refusal | null): void {
    const { refusal, unsure } = this.#known
    if (unsure || (refusal !== null && (refusal !== due || this.due() === null))) return
    this.#report(
      'quota-is-used',
      'uploads ended for the quota, and the host was not asked whether it came free',
    )
  }

  /** What a process knows that begins now with the records as they are. */
  recorded(): Known {
    if (this.#facts.now() - this.#changedAt >= RECORDED_MS) return this.#known
    const { refusal } = this.#known
    return refusal ? { ...this.#before, unsure: refusal } : NOTHING
  }

  /** The process ended in the midst of its work. */
  processEnded(): void {
    this.restored(this.recorded())
  }

  /** The next process has these records; null: none. */
  restored(known: Known | null): void {
    this.#known = known ?? NOTHING
    this.#before = this.#known
  }

  #change(known: Known): void {
    this.#before = this.recorded()
    this.#known = known
    this.#changedAt = this.#facts.now()
  }

  /** Whether albumd, which has this written down, may ask. */
  #isDue({ first, perhapsFirst, at }: Refusal, now = this.#facts.wall()): boolean {
    const { days, probeEveryMs } = this.#facts.allowance
    const ago = now - at
    if (ago < 0) return true
    const isDueAfter = (said: number) => {
      const nextDay = days ? days(said) + DAY_MS : at
      return at < nextDay ? now >= nextDay : ago >= probeEveryMs - MOMENT_MS
    }
    return isDueAfter(first) || (perhapsFirst !== null && isDueAfter(perhapsFirst))
  }
}
