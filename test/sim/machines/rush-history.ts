import { Random } from '../histories/random.ts'
import type { StoreFault } from './virtual-store.ts'

/** The endpoints of a rush: one with a high limit, one with a low one. */
export const RUSHED = ['list', 'delete'] as const
export type Rushed = (typeof RUSHED)[number]

/** The store goes wrong for a while. Milliseconds from the beginning. */
export interface RushTrouble {
  at: number
  forMs: number
  kind: StoreFault
  machine: string
}

/** A process ends, by SIGKILL or not, and perhaps another one begins. */
export interface RushEnd {
  at: number
  machine: string
  isKilled: boolean
  /** Null: none begins. */
  againAt: number | null
}

/** A process is stopped for a while, as by SIGSTOP. */
export interface RushStop {
  at: number
  forMs: number
  machine: string
}

/** Machines with one account that send as much as they may, while their store goes wrong. */
export interface Rush {
  seed: number
  machines: readonly string[]
  limits: Readonly<Record<Rushed, number>>
  share: number
  workers: number
  /** How often a machine pauses before it sends the next request. */
  idle: number
  lasts: number
  troubles: readonly RushTrouble[]
  ends: readonly RushEnd[]
  stops: readonly RushStop[]
  /** When the host refuses a machine for the quota. */
  refusal: { at: number; machine: string }
}

const FAULTS: readonly StoreFault[] = ['away', 'one', 'one', 'slow', 'deaf', 'readOnly', 'empty']
/** So long before the end nothing goes wrong any more. */
export const CALM_MS = 22_000

export function drawRush(seed: number): Rush {
  const random = new Random(seed, 23)
  const machines = ['albumd', 'second', 'third'].slice(0, random.pick([2, 2, 2, 3]))
  const troubles: RushTrouble[] = []
  let at = 4000 + random.below(4000)
  for (let left = 1 + random.below(2); left > 0; left--) {
    const kind = random.pick(FAULTS)
    const forMs = kind === 'empty' ? 0 : random.pick([700, 3000, 9000, 16_000, 25_000])
    troubles.push({ at, forMs, kind, machine: random.pick(machines) })
    at += forMs + 3000 + random.below(8000)
  }
  const ends = Array.from({ length: random.below(3) }, (): RushEnd => {
    const machine = random.pick(machines)
    const endAt = 3000 + random.below(at)
    const again = random.chance(0.6) ? endAt + 800 + random.below(12_000) : null
    return { at: endAt, machine, isKilled: random.chance(0.7), againAt: again && afterCuts(again, troubles) }
  })
  const stops = drawStops(
    new Random(seed, 25),
    at,
    machines.filter(name => !ends.some(({ machine }) => machine === name)),
  )
  const last = Math.max(
    at,
    ...ends.map(({ at, againAt }) => againAt ?? at),
    ...stops.map(({ at, forMs }) => at + 500 + forMs),
  )
  return {
    seed,
    machines,
    limits: { list: 3 + random.below(10), delete: 3 + random.below(3) },
    share: random.pick([1 / 8, 1 / 8, 1 / 4, 1 / 3]),
    workers: 1 + random.below(3),
    idle: random.pick([0, 0, 0.2]),
    lasts: last + CALM_MS,
    troubles,
    ends: ends.filter((end, at) => ends.findIndex(each => each.machine === end.machine) === at),
    stops: stops.filter(stop => !isForgotten(stop, troubles)),
    refusal: { at: 2000 + random.below(last), machine: random.pick(machines) },
  }
}

/** Some machines are stopped, one after the other, each while it sends. */
function drawStops(random: Random, until: number, machines: readonly string[]): RushStop[] {
  if (machines.length === 0 || random.chance(0.7)) return []
  let at = 3000 + random.below(until)
  return Array.from({ length: 1 + random.below(4) }, () => {
    const stop = { at, forMs: random.pick([300, 3000, 12_000, 40_000]), machine: random.pick(machines) }
    at += stop.forMs + 1500 + random.below(8000)
    return stop
  })
}

/** The store starts empty while a machine is stopped, then the machine is cut off: the others know nothing of it. */
function isForgotten({ at, forMs, machine }: RushStop, troubles: readonly RushTrouble[]): boolean {
  const end = at + STOPS_MS + forMs
  const cutOff = troubles.some(
    each => each.machine === machine && each.at < end + BACK_MS && each.at + each.forMs > end,
  )
  return cutOff && troubles.some(each => each.kind === 'empty' && each.at > at - BACK_MS && each.at < end)
}

/** A machine is stopped so long after its time at the latest. */
const STOPS_MS = 500
/** A machine is back at the store so long after it went on. */
const BACK_MS = 1500

/** The others know nothing of a machine that begins while it is cut off: it may send more than is left to it. */
function afterCuts(at: number, troubles: readonly RushTrouble[]): number {
  return troubles.reduce(
    (time, { at, forMs }) => (time >= at && time < at + forMs + 500 ? at + forMs + 500 : time),
    at,
  )
}
