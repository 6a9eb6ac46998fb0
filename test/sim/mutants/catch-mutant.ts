import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Failure } from '../campaign.ts'
import type { Mutant } from './mutant.ts'

/** What a thread (mutant-thread.ts) plays: the seed, then `count` others from `from` on, until `most` have failed. */
export interface Order {
  name: string
  seed: number
  from: number
  count: number
  most: number
}

/** A thread keeps the engine of each mutant in memory. After so many there is another one. */
const MUTANTS_A_THREAD = 45

let thread: Worker | null = null
let played = 0

/** Plays the mutant's seed, then `count` from `from` on until `most` failed. Rejects where the mutant does not fit. */
export async function playMutant(
  { name, seed }: Mutant,
  more: { from: number; count: number; most: number },
): Promise<Failure[]> {
  if (played++ % MUTANTS_A_THREAD === 0) {
    await thread?.terminate()
    // Its types are taken away by a function of Node that warns.
    const execArgv = ['--disable-warning=ExperimentalWarning']
    thread = new Worker(new URL('mutant-thread.ts', import.meta.url), { execArgv })
  }
  thread!.ref()
  try {
    const answered = once(thread!, 'message') as Promise<[Failure[]]>
    thread!.postMessage({ name, seed, ...more } satisfies Order)
    return (await answered)[0]
  } catch (error) {
    // The thread has ended.
    played = 0
    throw error
  } finally {
    thread!.unref()
  }
}
