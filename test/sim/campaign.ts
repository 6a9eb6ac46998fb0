import { setImmediate as turn } from 'node:timers/promises'
import { historyOf } from './kept-histories.ts'
import type { Violation } from './oracle.ts'
import { play } from './play.ts'
import type { Kits } from './world.ts'

export interface Failure extends Violation {
  seed: number
}

export interface Tally {
  histories: number
  steps: number
  failures: Failure[]
}

/** Plays the histories of these seeds. `onFailure` hears of each failure, and may end it all by answering true. */
export async function playSeeds(
  seeds: Iterable<number>,
  kits: Kits,
  onFailure: (failure: Failure) => boolean = () => false,
): Promise<Tally> {
  const tally: Tally = { histories: 0, steps: 0, failures: [] }
  // In a turn of its own: `quiet` relies on being asked by a microtask.
  await turn()
  for (const seed of seeds) {
    const { violation, steps } = await playSeed(seed, kits)
    tally.histories++
    tally.steps += steps
    // Whoever waits for messages has a turn.
    if (tally.histories % 16 === 0) await turn()
    if (!violation) continue
    tally.failures.push({ seed, ...violation })
    if (onFailure(tally.failures.at(-1)!)) break
  }
  return tally
}

/** What the simulation itself gets wrong is a failure of its seed too. */
async function playSeed(seed: number, kits: Kits): Promise<{ violation: Violation | null; steps: number }> {
  try {
    return await play(historyOf(seed), kits)
  } catch (error) {
    return { violation: { invariant: 'simulation', what: String((error as Error).stack ?? error) }, steps: 0 }
  }
}

export function* range(from: number, count: number): Generator<number> {
  for (let seed = from; seed < from + count; seed++) yield seed
}
