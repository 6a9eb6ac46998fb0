import type { Endpoint } from '../../../src/protocol/endpoints.ts'
import { Timeline } from '../engine/virtual-clock.ts'
import { Random } from '../histories/random.ts'
import { type Fault, Faults } from '../host/faults.ts'

/** What takes less is over at once, and only the order of such steps matters. Milliseconds. */
const SHORT_MS = 50
/** When a request that is late arrives: before the next pass, or some passes later, with its credential about to expire. */
const LATE_MS = [30_000, 530_000] as const

/** One way through all choices: the first of them as given, and every other one the first that there is. */
export class Choices {
  readonly #given: readonly number[]
  /** What was chosen, and of how many. */
  readonly taken: { chosen: number; of: number }[] = []

  constructor(given: readonly number[]) {
    this.#given = given
  }

  /** Whether all that was given has been chosen: from here on nobody has been before. */
  get isNew(): boolean {
    return this.taken.length >= this.#given.length
  }

  choose(of: number): number {
    const chosen = this.#given[this.taken.length] ?? 0
    this.taken.push({ chosen, of })
    return chosen
  }

  /** The ways that branch off where this one was new. */
  *others(): Generator<number[]> {
    for (let at = this.#given.length; at < this.taken.length; at++)
      for (let other = 1; other < this.taken[at]!.of; other++)
        yield [...this.taken.slice(0, at).map(({ chosen }) => chosen), other]
  }
}

/** No chance is left: short times are none, and coins fall on one side. Only ids are drawn as ever. */
export class Fixed extends Random {
  readonly #choices: Choices

  constructor(choices: Choices, stream: number) {
    super(1, stream)
    this.#choices = choices
  }

  override below(end: number): number {
    return end > LATE_MS[1] ? LATE_MS[this.#choices.choose(LATE_MS.length)]! : 0
  }

  override chance(): boolean {
    return false
  }
}

interface Due {
  at: number
  order: number
  act: () => void
  /** Of a step that the host or the records see. */
  what: string | null
  /** Tells the step from all others, whatever the order. */
  id: number
}

/** Steps that fall together come in any order, after those of one picture alone (reading): nothing else sees these. */
export class OrderedTimeline extends Timeline {
  readonly #choices: Choices
  #due: Due[] = []
  #order = 0
  /** The step under way, and how many it has brought about so far. */
  #current = { id: 1, children: 0 }
  /** All steps so far: a sum, for which their order does not matter. */
  done = 0
  /** Asked before each step that is seen, where all others are done. */
  onStep: () => void = () => {}
  /** Whether anything is to be chosen. */
  isFree = false
  /** Which of the steps that are under way were begun by a process that is no more. */
  #orphans = 0

  constructor(choices: Choices) {
    super()
    this.#choices = choices
  }

  override after(ms: number, act: () => void, what: string | null = null): void {
    const at = this.now + (ms < SHORT_MS ? 0 : ms)
    const id = mixed(this.#current.id, ++this.#current.children)
    this.#due.push({ at, order: this.#order++, act, what, id })
  }

  override next(): number | null {
    return this.#due.length === 0 ? null : Math.min(...this.#due.map(({ at }) => at))
  }

  override advance(): void {
    const at = Math.max(this.now, this.next()!)
    let due = this.#due.filter(each => each.at <= at)
    const unseen = due.find(({ what }) => what === null)
    if (!unseen) {
      this.now = at
      this.onStep()
      // The process may have ended by that.
      due = due.filter(each => this.#due.includes(each))
    }
    const next = unseen ?? due[this.isFree ? this.#choices.choose(due.length) : 0]
    if (next) this.#do(next, at)
  }

  /** The process is killed: what is under way to the host arrives or does not. */
  orphan(): void {
    this.#orphans = this.#order
    this.#due = this.#due.filter(({ what }) => what?.includes('arrives'))
  }

  /** What is under way, in words, with the time that is left. */
  underWay(): [what: string, ms: number][] {
    return this.#due.flatMap(({ what, at }) =>
      what === null ? [] : [[what, at - this.now] as [string, number]],
    )
  }

  #do(due: Due, at: number): void {
    this.#due = this.#due.filter(each => each !== due)
    this.now = at
    this.#current = { id: due.id, children: 0 }
    this.done = (this.done + due.id) % 2 ** 52
    const mayBeLost = due.order < this.#orphans && due.what?.endsWith('arrives')
    if (mayBeLost && this.#choices.choose(2) === 1) return
    due.act()
  }

  /** What was chosen in a step makes other steps of those that follow. */
  chose(which: number): void {
    this.#current.id = mixed(this.#current.id, -1 - which)
  }
}

function mixed(id: number, by: number): number {
  return (
    (Math.imul(id ^ (by * 0x9e3779b1), 0x85ebca6b) >>> 0) * 2 ** 20 +
    (((id * 31 + by * 7919) >>> 0) % 2 ** 20)
  )
}

/** Any fault may strike any request, as long as so many are left. */
export class ChosenFaults extends Faults {
  readonly #choices: Choices
  readonly #time: OrderedTimeline
  readonly #kinds: (endpoint: Endpoint) => readonly Fault[]
  left: number

  constructor(
    choices: Choices,
    time: OrderedTimeline,
    left: number,
    kinds: (endpoint: Endpoint) => readonly Fault[],
  ) {
    super()
    this.#choices = choices
    this.#time = time
    this.left = left
    this.#kinds = kinds
  }

  override clear(): void {
    this.left = 0
  }

  override take(endpoint: Endpoint): Fault | null {
    if (this.left === 0) return null
    const kinds = this.#kinds(endpoint)
    const chosen = this.#choices.choose(1 + kinds.length)
    if (chosen === 0) return null
    this.#time.chose(chosen)
    this.left--
    return this.strike(endpoint, kinds[chosen - 1]!)
  }
}
