import { setImmediate as turn } from 'node:timers/promises'
import { openStateKit, type StateKit } from './engine/state-kit.ts'
import { type Kits, World } from './engine/world.ts'
import { drawBroad, keptHistory } from './histories/broad.ts'
import { drawHistory, type History } from './histories/history.ts'
import { drawPast } from './histories/past.ts'
import { drawRefusing } from './histories/refusing.ts'
import { isBroad, isOfMachines, isPast, isRefusing, seedOfKind } from './histories/seeds.ts'
import { drawSlip, isSlip } from './histories/slips.ts'
import { PLAIN, type Variations } from './histories/variations.ts'
import { openHostKit } from './host/host-kit.ts'
import { mustConverge } from './judges/convergence.ts'
import { mustDoAsSaid } from './judges/dry-run-judge.ts'
import { mustRestore } from './judges/moments.ts'
import type { Violation } from './judges/oracle.ts'
import { drawMachines, keptMachines, type MachinesHistory } from './machines/machines-history.ts'
import { playMachines } from './machines/play-machines.ts'

export interface Failure extends Violation {
  seed: number
}

export interface Tally {
  histories: number
  steps: number
  failures: Failure[]
  /** In how many histories each state was seen. */
  seen: Map<string, number>
  /** How many histories had a host that varied so, and how many of them failed. */
  varied: Map<string, Varied>
}

interface Varied {
  histories: number
  failures: number
}

/** Plays the histories of these seeds. `onFailure` hears of each failure, and may end it all by answering true. */
export async function playSeeds(
  seeds: Iterable<number>,
  kits: Kits,
  onFailure: (failure: Failure) => boolean = () => false,
): Promise<Tally> {
  const tally = emptyTally()
  // In a turn of its own: `quiet` relies on being asked by a microtask.
  await turn()
  for (const seed of seeds) {
    const { violation, steps, seen } = await playSeed(seed, kits)
    const failures = violation ? [{ seed, ...violation }] : []
    const each = { histories: 1, failures: failures.length }
    addTally(tally, {
      histories: 1,
      steps,
      failures,
      seen: new Map([...seen].map(state => [state, 1])),
      varied: new Map(variationsOf(seed).map(name => [name, each])),
    })
    // Whoever waits for messages has a turn.
    if (tally.histories % 16 === 0) await turn()
    if (failures.some(onFailure)) break
  }
  return tally
}

export function emptyTally(): Tally {
  return { histories: 0, steps: 0, failures: [], seen: new Map(), varied: new Map() }
}

/** In what the host of a history is not as the embedded one. */
export function variationsOf(seed: number): string[] {
  const history = historyOf(seed)
  if ('machines' in history) return []
  return Object.entries(history.variations).flatMap(([name, value]) => {
    if (String(value) === String(PLAIN[name as keyof Variations]) || name === 'readings') return []
    return typeof value === 'string' ? `${name} ${value}` : name
  })
}

export function addTally(to: Tally, { histories, steps, failures, seen, varied }: Tally): void {
  to.histories += histories
  to.steps += steps
  to.failures.push(...failures)
  for (const [state, times] of seen) to.seen.set(state, (to.seen.get(state) ?? 0) + times)
  for (const [name, one] of varied) {
    const { histories, failures } = to.varied.get(name) ?? { histories: 0, failures: 0 }
    to.varied.set(name, { histories: histories + one.histories, failures: failures + one.failures })
  }
}

/** So many seeds on, one is played twice. */
const TWICE_EVERY = 100

/** What the simulation itself gets wrong is a failure of its seed too. */
async function playSeed(seed: number, kits: Kits): Promise<Played> {
  try {
    return seed % TWICE_EVERY === 0 ? await playTwice(seed, kits) : await playHistory(seed, kits)
  } catch (error) {
    return {
      violation: { invariant: 'simulation', what: String((error as Error).stack ?? error) },
      ...NOTHING,
    }
  }
}

/** A history must go alike each time, or its seed shows nothing. */
async function playTwice(seed: number, kits: Kits): Promise<Played> {
  const [log, again]: string[][] = [[], []]
  const played = await playHistory(seed, kits, log)
  await playHistory(seed, kits, again)
  const at = log!.findIndex((line, at) => line !== again![at])
  if (at < 0 && log!.length === again!.length) return played
  const what = `"${log!.at(at)}" and then "${again!.at(at)}"`
  return {
    violation: { invariant: 'simulation', what: `played twice, it went otherwise: ${what}` },
    ...NOTHING,
  }
}

export function* range(from: number, count: number): Generator<number> {
  for (let seed = from; seed < from + count; seed++) yield seed
}

export function openKits(): Kits {
  let second: StateKit | null = null
  return {
    host: openHostKit(),
    state: openStateKit(),
    // Few histories have a second machine.
    get second() {
      second ??= openStateKit()
      return second
    },
  }
}

export interface Played {
  /** Null: every invariant held. */
  violation: Violation | null
  steps: number
  /** The states of `reach/states.ts` that were seen. */
  seen: ReadonlySet<string>
}

const NOTHING = { steps: 0, seen: new Set<string>() }

/** The history of a seed, kept or drawn, of one machine or of two. */
export function historyOf(seed: number): History | MachinesHistory {
  const its = seedOfKind(seed)
  if (isOfMachines(its)) return drawMachines(its)
  if (isPast(its)) return drawPast(its)
  return keptHistory(its) ?? keptMachines(its) ?? drawn(its)
}

function drawn(seed: number): History {
  if (isRefusing(seed)) return drawRefusing(seed)
  if (isSlip(seed)) return drawSlip(seed)
  return isBroad(seed) ? drawBroad(seed) : drawHistory(seed)
}

export function playHistory(seed: number, kits: Kits, log: string[] | null = null): Promise<Played> {
  const history = historyOf(seed)
  return 'machines' in history ? playMachines(history, kits, log) : play(history, kits, log)
}

/** Plays one history to its end. `log` takes what happens, for people. */
export async function playOnce(history: History, kits: Kits, log: string[] | null = null): Promise<Played> {
  const world = new World(history, kits, log)
  const { oracle } = world
  for (const [pass, pause] of history.pauses.entries()) {
    await world.passes.run(pass)
    if (oracle.violation) break
    await world.rest(pause)
    if (oracle.violation) break
  }
  if (!oracle.violation) await mustConverge(world, history.pauses.length)
  await mustRestore(world)
  world.stripping.mustKnow()
  world.moments.mustComeBack()
  oracle.secrecy.records()
  return { violation: oracle.violation, steps: world.passes.steps, seen: world.sights.seen }
}

/** Plays one history to its end, and some histories a second time, to a dry run. */
export async function play(history: History, kits: Kits, log: string[] | null = null): Promise<Played> {
  const played = await playOnce(history, kits, log)
  if (played.violation || history.seed % REHEARSED_EVERY !== 0) return played
  log?.push('from the beginning, to a dry run')
  const { violation } = await playDryRun(history, kits, log)
  return { ...played, violation }
}

/** Of so many seeds, one is also played to a dry run. */
const REHEARSED_EVERY = 8

/** Plays half of a history, the rest of its events at once, a dry run and its pass. `said`: what `mustDoAsSaid` returns. */
export async function playDryRun(
  history: History,
  kits: Kits,
  log: string[] | null = null,
): Promise<Played & { said: number | null }> {
  const world = new World(history, kits, log)
  const half = Math.ceil(history.pauses.length / 2)
  for (const [pass, pause] of history.pauses.slice(0, half).entries()) {
    await world.passes.run(pass)
    await world.rest(pause)
  }
  world.passes.hurry(half)
  const said = await mustDoAsSaid(world, history.pauses.length)
  return { violation: world.oracle.violation, steps: world.passes.steps, seen: world.sights.seen, said }
}
