import { mustConverge } from './convergence.ts'
import type { History } from './history.ts'
import type { Violation } from './oracle.ts'
import { type Kits, World } from './world.ts'

export interface Played {
  /** Null: every invariant held. */
  violation: Violation | null
  steps: number
}

/** Plays one history to its end. `log` takes what happens, for people. */
export async function play(history: History, kits: Kits, log: string[] | null = null): Promise<Played> {
  const world = new World(history, kits, log)
  const { oracle } = world
  for (const [pass, pause] of history.pauses.entries()) {
    await world.passes.run(pass)
    if (oracle.violation) break
    await world.rest(pause)
    if (oracle.violation) break
  }
  if (!oracle.violation) await mustConverge(world, history.pauses.length)
  oracle.secrecy.records()
  return { violation: oracle.violation, steps: world.passes.steps }
}
