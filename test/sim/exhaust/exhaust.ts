import type { Endpoint } from '../../../src/protocol/endpoints.ts'
import { type Kits, World } from '../engine/world.ts'
import type { History } from '../histories/history.ts'
import { PLAIN_SETTING } from '../histories/setting.ts'
import { PLAIN } from '../histories/variations.ts'
import { type Fault, faultsAt } from '../host/faults.ts'
import { mustConverge } from '../judges/convergence.ts'
import { Choices, ChosenFaults, Fixed, OrderedTimeline } from './choices.ts'
import { digestOf } from './digest.ts'

/** How much may go wrong in a world. */
export interface Bounds {
  faults: number
  crashes: number
  /** all: each fault that the simulation knows. doubtful: those that leave it open what the host has done. */
  kinds: 'all' | 'doubtful'
  /** How many pictures are sent at once. */
  atOnce: 1 | 2
}

export const BOUNDS: readonly Bounds[] = [
  { faults: 1, crashes: 1, kinds: 'all', atOnce: 2 },
  { faults: 2, crashes: 0, kinds: 'all', atOnce: 1 },
  { faults: 2, crashes: 1, kinds: 'doubtful', atOnce: 1 },
]

/** Two pictures in one album. The last passes are free, those before go well. */
const WORLDS = {
  'two pictures are new': { before: 0, actions: [] },
  'one of two pictures is replaced, the other deleted': {
    before: 1,
    actions: [
      { pass: 1, step: 0, kind: 'change', a: 0, b: 5 },
      { pass: 1, step: 0, kind: 'remove', a: 1, b: 0 },
    ],
  },
} as const satisfies Record<string, { before: number; actions: History['actions'] }>

type Start = keyof typeof WORLDS
export const STARTS = Object.keys(WORLDS) as Start[]

/** Longer than the first late requests take; than a credential's life; an hour. */
const PAUSES = [61_000, 800_000, 3_700_000]

function historyOf(start: Start, concurrency: number): History {
  const { before, actions } = WORLDS[start]
  return {
    seed: 1_000_000_900,
    variations: PLAIN,
    mirrors: [{ album: 'Photos', deletions: 'propagate', mounted: false, subMount: false, bind: false }],
    files: [
      [0, 1],
      [16, 2],
    ],
    hold: { hold_above: 0.5, hold_min: 20 },
    graceMs: 0,
    graceManyMs: 0,
    concurrency,
    order: 'oldest',
    setting: PLAIN_SETTING,
    news: false,
    pauses: [...Array.from({ length: before }, () => PAUSES[0]!), ...PAUSES],
    actions,
  }
}

/** Where what is left open is a change of the host. */
const CHANGES: ReadonlySet<Endpoint> = new Set(['send', 'delete', 'create_album'])
const DOUBTFUL: ReadonlySet<Fault['kind']> = new Set(['lost', 'late', 'never', 'garbled'])

/** A request that is cut off differs from one that is never served only where it is long. */
function allAt(endpoint: Endpoint): Fault[] {
  return faultsAt(endpoint).filter(({ kind }) => kind !== 'cut' || endpoint === 'send')
}

const KINDS: Record<Bounds['kinds'], (endpoint: Endpoint) => readonly Fault[]> = {
  all: allAt,
  doubtful: endpoint =>
    CHANGES.has(endpoint) ? faultsAt(endpoint).filter(({ kind }) => DOUBTFUL.has(kind)) : [],
}

/** What came of all worlds within the bounds. */
interface Explored {
  /** Played to their end, where disk and host agree. */
  worlds: number
  /** Left where another world had come to the same. */
  merged: number
  /** What was chosen in a world in which an invariant did not hold, and which invariant that was. */
  failures: string[]
  /** How many are known that were not played; 0: nothing is left. */
  left: number
}

/** The world has come to where another one was. */
class Merged extends Error {}

/** Plays every world within the bounds, on the real engine, from its beginning: each order of the steps that host and records
 * see, each fault at each request, and the process killed before each step. Every pass is a process of its own, so that
 * records, host and what is under way are all that one pass leaves to the next; worlds that are alike in that are merged. In
 * a pass worlds are merged that have come by the same steps, in another order, to the same records and the same host.
 * `until` tells, by the worlds so far, when to leave off. */
export async function explore(
  start: Start,
  bounds: Bounds,
  kits: Kits,
  until: (explored: Explored) => boolean = () => false,
): Promise<Explored> {
  const explored: Explored = { worlds: 0, merged: 0, failures: [], left: 0 }
  const seen = new Set<string>()
  const left: (readonly number[])[] = [[]]
  for (let given = left.pop(); given; given = left.pop()) {
    explored.left = left.length
    if (until(explored)) return explored
    const choices = new Choices(given)
    try {
      const violation = await playOne(start, bounds, choices, kits, seen)
      explored.worlds++
      if (violation)
        explored.failures.push(`${choices.taken.map(({ chosen }) => chosen).join()}: ${violation}`)
    } catch (error) {
      if (!(error instanceof Merged)) throw error
      explored.merged++
    }
    left.push(...choices.others())
  }
  return explored
}

/** Answers what did not hold, or null. Throws Merged. */
async function playOne(
  start: Start,
  bounds: Bounds,
  choices: Choices,
  kits: Kits,
  seen: Set<string>,
): Promise<string | null> {
  const history = historyOf(start, bounds.atOnce)
  const time = new OrderedTimeline(choices)
  const fate = { time, random: new Fixed(choices, 1), ofHost: new Fixed(choices, 2) }
  const world = new World(history, kits, null, null, fate)
  const faults = new ChosenFaults(choices, time, 0, KINDS[bounds.kinds])
  world.host.faults = faults
  let crashes = 0
  const isKnown = (...key: unknown[]): boolean => {
    const size = seen.size
    return seen.add([digestOf(world, time.underWay()), faults.left, crashes, ...key].join(' ')).size === size
  }
  const { before } = WORLDS[start]
  for (const [pass, pause] of history.pauses.entries()) {
    if (pass === before) {
      time.isFree = true
      faults.left = bounds.faults
      crashes = bounds.crashes
    }
    time.onStep = () => {
      if (!time.isFree || !world.life || world.life.dead || !world.passes.isUnderWay) return
      if (choices.isNew && isKnown('step', pass, time.done)) throw new Merged()
      if (crashes === 0) return
      const isMerged = choices.isNew && isKnown('crash', pass)
      if (choices.choose(isMerged ? 1 : 2) === 0) return
      crashes--
      world.kill(1000)
      time.orphan()
    }
    await world.passes.run(pass)
    if (world.oracle.violation) break
    world.endProcess()
    time.orphan()
    if (pass >= before && choices.isNew && isKnown('pass', pass)) throw new Merged()
    await world.rest(pause)
  }
  time.isFree = false
  faults.left = 0
  if (!world.oracle.violation) await mustConverge(world, history.pauses.length)
  const { violation } = world.oracle
  return violation && `${violation.invariant}: ${violation.what}`
}
