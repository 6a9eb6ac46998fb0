import type { Clock } from '../../../src/protocol/clock.ts'
import type { Random } from '../histories/random.ts'

interface Due {
  at: number
  order: number
  act: () => void
}

/** 2026-11-21T12:00:00Z. */
const BEGINNING = 1_795_262_400_000

/** True time in milliseconds, and what is to happen when. It jumps to the next moment once nothing else is left to do. */
export class Timeline {
  now = BEGINNING
  #order = 0
  /** A heap by moment, then by the order of asking. */
  readonly #due: Due[] = []

  /** Lets `act` happen so many milliseconds from here. `_what` is changed by that in the host or the records. */
  after(ms: number, act: () => void, _what?: string): void {
    const due = { at: this.now + Math.max(0, ms), order: this.#order++, act }
    const heap = this.#due
    let at = heap.push(due) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!isBefore(due, heap[above]!)) break
      heap[at] = heap[above]!
      at = above
    }
    heap[at] = due
  }

  /** How many worlds share this time. It passes once all of them wait. */
  players = 1
  #waiting: (() => void)[] = []

  /** One world waits until something has happened. */
  turn(): Promise<void> {
    return new Promise(resolve => {
      this.#waiting.push(resolve)
      this.#goOn()
    })
  }

  /** A world waits no more. */
  leave(): void {
    this.players--
    if (this.players > 0) this.#goOn()
  }

  #goOn(): void {
    if (this.#waiting.length < this.players) return
    const woken = this.#waiting
    this.#waiting = []
    this.advance()
    for (const wake of woken) wake()
  }

  /** The moment of what happens next, or null. */
  next(): number | null {
    return this.#due[0]?.at ?? null
  }

  /** Goes to what happens next and lets it happen. */
  advance(): void {
    const first = this.#due[0]!
    const last = this.#due.pop()!
    if (last !== first) this.#sink(last)
    this.now = Math.max(this.now, first.at)
    first.act()
  }

  #sink(due: Due): void {
    const heap = this.#due
    let at = 0
    for (;;) {
      let below = at * 2 + 1
      if (below >= heap.length) break
      if (below + 1 < heap.length && isBefore(heap[below + 1]!, heap[below]!)) below++
      if (!isBefore(heap[below]!, due)) break
      heap[at] = heap[below]!
      at = below
    }
    heap[at] = due
  }
}

function isBefore(one: Due, other: Due): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order)
}

/** Resolves once every microtask has run: Node drains them before the next of these. */
export function quiet(): Promise<void> {
  return new Promise(resolve => process.nextTick(resolve))
}

/** The clocks of the machine that albumd runs on: one may jump, the other begins again with every boot. */
export class MachineClock {
  readonly #time: Timeline
  /** Added to true time: what somebody has set the wall clock to. */
  offset = 0
  readonly #ticks: boolean
  #bootedAt: number
  boot = 1

  constructor(time: Timeline, ticks = false) {
    this.#time = time
    this.#ticks = ticks
    this.#bootedAt = time.now - 86_400_000
  }

  reboot(): void {
    this.#bootedAt = this.#time.now - 15_000
    this.boot++
  }

  wall = (): number => {
    if (this.#ticks) this.#time.now++
    return this.#time.now + this.offset
  }
  monotonic = (): number => this.#time.now - this.#bootedAt

  /** The clock of one process: who sleeps when it ends sleeps for ever. `stoppedUntil`: it is stopped, as by SIGSTOP. */
  of(life: { dead: boolean; stoppedUntil?: number }): Clock {
    const time = this.#time
    return {
      wall: this.wall,
      monotonic: this.monotonic,
      sleep: (ms, signal) =>
        new Promise(resolve => {
          if (signal.aborted) return resolve()
          const wake = () => {
            signal.removeEventListener('abort', wake)
            const stopped = (life.stoppedUntil ?? 0) - time.now
            if (stopped > 0) time.after(stopped, wake)
            else if (!life.dead) resolve()
          }
          signal.addEventListener('abort', wake)
          time.after(Math.ceil(ms), wake)
        }),
    }
  }
}

/** One process, from its start to its end. What it has under way when it ends never comes back to it. */
export class Life {
  dead = false
  readonly time: Timeline
  readonly clock: Clock
  readonly #random: Random
  readonly #onStep: (what: string) => void

  constructor(time: Timeline, machine: MachineClock, random: Random, onStep: (what: string) => void) {
    this.time = time
    this.clock = machine.of(this)
    this.#random = random
    this.#onStep = onStep
  }

  /** The world may go on here: people act, the process may end. */
  step(what: string): void {
    this.#onStep(what)
  }

  /** Makes a change of the records. Who dies in the midst of a change leaves none of it. */
  survive<T>(change: () => T): T {
    const value = change()
    if (this.dead) throw new Error('the process has ended')
    return value
  }

  /** A step, and a little time. */
  async pause(what: string): Promise<void> {
    if (!this.dead) this.step(what)
    await new Promise<void>(resolve => {
      if (this.dead) return
      this.time.after(1 + this.#random.below(20), () => {
        if (!this.dead) resolve()
      })
    })
  }
}
