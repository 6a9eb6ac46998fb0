import type { SteadyClock } from '../../../src/protocol/clock.ts'
import { arrivedBefore, type EarlierRequests, RateWindow } from '../../../src/remote/gate/rate-window.ts'
import { openAccount, type SharedAccount } from '../../../src/shared/account.ts'
import type { SharedWindow } from '../../../src/shared/shared-window.ts'
import { MachineClock, quiet, Timeline } from '../engine/virtual-clock.ts'
import { Random } from '../histories/random.ts'
import type { Violation } from '../judges/oracle.ts'
import { RUSHED, type Rush, type Rushed } from './rush-history.ts'
import { type Arrival, judgeRates } from './rush-judge.ts'
import { VirtualStore } from './virtual-store.ts'

/** For so long the others of the account may not have heard of a refusal for the quota. */
const HEARD_MS = 2000

/** Plays a rush to its end. `log` takes what happens, for people. */
export async function playRush(rush: Rush, log: string[] | null = null): Promise<Violation | null> {
  const time = new Timeline()
  const store = new VirtualStore(time, new Random(rush.seed, 24))
  const began = time.now
  const arrivals: Arrival[] = []
  const say = (line: string) => void log?.push(`${time.now - began} ms: ${line}`)
  const machines = new Map(
    rush.machines.map((name, at) => {
      const arrive = (endpoint: Rushed, isAnswered: boolean) => {
        arrivals.push({ at: time.now - began, machine: name, endpoint, isAnswered })
        say(`${endpoint} of ${name}`)
      }
      return [
        name,
        new RushMachine(name, rush, { time, store, random: new Random(rush.seed, 30 + at), arrive }),
      ]
    }),
  )
  for (const { at, forMs, kind, machine } of rush.troubles) {
    time.after(at, () => {
      say(`the store: ${kind} for ${forMs} ms (${machine})`)
      store.begin(kind, machine)
    })
    if (forMs > 0) time.after(at + forMs, () => store.end())
  }
  for (const { at, machine, isKilled, againAt } of rush.ends) {
    time.after(at, () => {
      say(`${machine} ${isKilled ? 'is killed' : 'ends'}`)
      machines.get(machine)!.end(isKilled)
    })
    if (againAt) time.after(againAt, () => machines.get(machine)!.start())
  }
  for (const { at, forMs, machine } of rush.stops)
    time.after(at, () => {
      say(`${machine} is stopped for ${forMs} ms`)
      machines.get(machine)!.stop(forMs)
    })
  for (const machine of machines.values()) time.after(0, () => machine.start())
  time.after(rush.refusal.at, () => machines.get(rush.refusal.machine)!.refused())
  await quiet()
  for (let next = time.next(); next !== null && next <= began + rush.lasts; next = time.next()) {
    time.advance()
    await quiet()
  }
  for (const machine of machines.values()) machine.end(true)
  return judgeRates(rush, arrivals) ?? judgeQuota(rush, [...machines.values()], began)
}

/** A machine that is told by the store hears of another's refusal for the quota. */
function judgeQuota(rush: Rush, machines: readonly RushMachine[], began: number): Violation | null {
  const { at, machine: refused } = rush.refusal
  const isNear = (from: number, to: number) => from < at + HEARD_MS && to > at - HEARD_MS
  if (rush.idle > 0 || rush.troubles.some(each => isNear(each.at, each.at + each.forMs + HEARD_MS)))
    return null
  if (rush.stops.some(each => isNear(each.at, each.at + each.forMs))) return null
  // One who lives through all of this.
  if (rush.ends.some(each => isNear(each.at, (each.againAt ?? rush.lasts) + HEARD_MS))) return null
  const deaf = machines.find(
    ({ name, heard }) =>
      name !== refused && !heard.some(each => each > began + at && each < began + at + HEARD_MS),
  )
  return deaf
    ? { invariant: 'quota-told', what: `${deaf.name} did not hear that ${refused} was refused` }
    : null
}

interface Ports {
  time: Timeline
  store: VirtualStore
  random: Random
  arrive(endpoint: Rushed, isAnswered: boolean): void
}

interface Process {
  dead: boolean
  stoppedUntil: number
  account: SharedAccount
  own: ReadonlyMap<Rushed, RateWindow>
  ended: AbortController
}

/** A machine that sends as much as it may. */
class RushMachine {
  readonly name: string
  /** When it heard of refusals. */
  readonly heard: number[] = []
  readonly #rush: Rush
  readonly #ports: Ports
  readonly #clock: MachineClock
  #process: Process | null = null
  #earlier: EarlierRequests = null
  #onConnecting = () => {}

  constructor(name: string, rush: Rush, ports: Ports) {
    this.name = name
    this.#rush = rush
    this.#ports = ports
    this.#clock = new MachineClock(ports.time)
    // Monotonic clocks have nothing in common.
    if (name !== 'albumd') this.#clock.reboot()
  }

  start(): void {
    const life = { dead: false, stoppedUntil: 0 }
    const { store, time } = this.#ports
    const { share, limits, workers } = this.#rush
    const clock = this.#clock.of(life)
    const account = openAccount(store.of(this.name, life), {
      machine: { id: this.name, name: this.name },
      share,
      usedToday: 0,
      clock,
    })
    account.onRefused(() => void this.heard.push(time.now))
    const own = new Map<Rushed, RateWindow>()
    const ended = new AbortController()
    this.#process = Object.assign(life, { account, own, ended })
    for (const endpoint of RUSHED) {
      const limit = limits[endpoint]
      const alone = new RateWindow(limit, arrivedBefore(this.#earlier, endpoint, limit))
      own.set(endpoint, alone)
      const window = account.windowOf(endpoint, limit, alone)
      for (let worker = 0; worker < workers; worker++) void this.#work(this.#process, endpoint, window)
    }
  }

  /** While a request connects, if one soon does. */
  stop(forMs: number): void {
    const { time } = this.#ports
    const process = this.#process
    this.#onConnecting = () => {
      if (process) process.stoppedUntil = time.now + forMs
      this.#onConnecting = () => {}
    }
    time.after(500, () => this.#onConnecting())
  }

  refused(): void {
    if (this.#process && !this.#process.dead) this.#process.account.others.refused(60_000)
  }

  /** By SIGKILL, or in order: then what is under way comes to its end, and the machine says goodbye. */
  end(isKilled: boolean): void {
    const ending = this.#process
    if (!ending) return
    this.#process = null
    const now = this.#clock.monotonic()
    this.#earlier = now
    if (isKilled) {
      ending.dead = true
      return
    }
    ending.ended.abort()
    this.#ports.time.after(GRACE_MS, () => {
      const sent = [...ending.own].map(([endpoint, window]) => [
        endpoint,
        window.recent(this.#clock.monotonic()),
      ])
      if (!this.#process) this.#earlier = Object.fromEntries(sent)
      void ending.account.close()
    })
    this.#ports.time.after(2 * GRACE_MS, () => {
      ending.dead = true
    })
  }

  async #work(process: Process, endpoint: Rushed, window: SharedWindow): Promise<void> {
    const { random, time } = this.#ports
    const { signal } = process.ended
    const clock = this.#clock.of(process)
    for (;;) {
      if (random.chance(this.#rush.idle)) await clock.sleep(random.below(4000), signal)
      const slot = await placeIn(window, clock, signal)
      if (!slot) return
      this.#onConnecting()
      await clock.sleep(random.below(random.chance(0.05) ? 250 : 15), NEVER)
      if (!slot.isOver?.(clock.monotonic()) && random.chance(0.97)) {
        slot.start(clock.monotonic())
        // Most requests arrive at once. A busy machine, line or host holds up some.
        const travels = random.chance(0.05) ? random.below(300) : random.below(10)
        const answersIn = 5 + random.below(random.chance(0.1) ? 200 : 10)
        const isAnswered = random.chance(0.95)
        time.after(travels, () => this.#ports.arrive(endpoint, isAnswered))
        await clock.sleep(travels + answersIn, NEVER)
        if (isAnswered) slot.answered(clock.monotonic())
      }
      slot.release()
    }
  }
}

/** As the gate: waits for a place. Null: the process ends before. */
async function placeIn(window: SharedWindow, clock: SteadyClock, signal: AbortSignal) {
  const leave = window.enter()
  for (;;) {
    const wait = signal.aborted ? null : window.waitMs(clock.monotonic())
    const slot = wait !== null && wait <= 0 ? window.take() : null
    if (wait === null || slot) {
      leave()
      return slot
    }
    await clock.sleep(wait, signal)
  }
}

/** A process that ends in order waits so long for what is under way, and is gone after as long again. */
const GRACE_MS = 300
const NEVER = new AbortController().signal
