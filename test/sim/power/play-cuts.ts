import { playOnce } from '../campaign.ts'
import { drawHistory, type History } from '../histories/history.ts'
import type { Random } from '../histories/random.ts'
import { GROWING, LATEST, READ } from '../histories/seeds.ts'
import { openHostKit } from '../host/host-kit.ts'
import type { Violation } from '../judges/oracle.ts'
import { type Cuts, DiskKit, type DiskKitOptions } from './disk-kit.ts'

/** Histories whose power is cut. `at`: before which op of the state folder's disk; null: now and then. */
export class CutHistories {
  readonly #kit: DiskKit
  readonly #host = openHostKit()
  histories = 0
  cuts = 0
  failures = 0
  readonly #print: (line: string) => void

  constructor(options: DiskKitOptions, print: (line: string) => void) {
    this.#kit = new DiskKit(options)
    this.#print = print
  }

  /** Answers whether the power was cut. `log` takes what happens, for people. */
  async play(seed: number, at: number | null, log: string[] | null = null): Promise<boolean> {
    const kit = this.#kit
    const wrong: string[] = []
    kit.begin(seed, seed + (at ?? 0) * 1_000_003, at === null ? nowAndThen : once(at), what =>
      wrong.push(what),
    )
    const found = (await this.#played(seed, log)) ?? aboutState(wrong)
    this.histories++
    this.cuts += kit.cuts.length
    if (!found) return kit.cuts.length > 0
    this.failures++
    const which = `--seed ${seed}${at === null ? '' : ` --at ${at}`}`
    this.#print(`${which}: ${found.invariant}: ${found.what.slice(0, 600)}`)
    for (const cut of kit.cuts) this.#print(`    the power is cut ${cut}`)
    return kit.cuts.length > 0
  }

  async #played(seed: number, log: string[] | null): Promise<Violation | null> {
    try {
      const kits = { host: this.#host, state: this.#kit, second: this.#kit }
      return (await playOnce(historyOf(seed), kits, log)).violation
    } catch (error) {
      return { invariant: 'simulation', what: String((error as Error).stack ?? error) }
    }
  }

  close(): void {
    this.#kit.close()
  }
}

function aboutState(wrong: readonly string[]): Violation | null {
  return wrong.length > 0 ? { invariant: 'state-stays', what: wrong.join('; ') } : null
}

/** All kinds of histories in turn. */
const KINDS = [LATEST, READ, GROWING]

/** A state that a person has put back is another one, and is to be recognized. One that a power cut has left is not. */
const LEFT_OUT: ReadonlySet<string> = new Set(['saveState', 'restoreState', 'loseState'])

function historyOf(seed: number): History {
  const history = drawHistory(KINDS[seed % KINDS.length]! + seed)
  return { ...history, actions: history.actions.filter(({ kind }) => !LEFT_OUT.has(kind)) }
}

/** Often soon again: a start has the most that can go wrong. */
function nowAndThen(random: Random, ops: number): number {
  return ops + 1 + random.below(2 ** (3 + random.below(8)))
}

function once(at: number): Cuts {
  return (_, ops) => (ops === 0 ? at : Number.POSITIVE_INFINITY)
}
