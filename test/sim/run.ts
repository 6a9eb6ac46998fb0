import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { commandLine } from '../../scripts/command-line.ts'
import {
  addTally,
  emptyTally,
  type Failure,
  historyOf,
  openKits,
  play,
  playHistory,
  range,
  type Tally,
  variationsOf,
} from './campaign.ts'
import type { Kits } from './engine/world.ts'
import { BOUNDS, explore, STARTS } from './exhaust/exhaust.ts'
import type { Violation } from './judges/oracle.ts'
import { SIM } from './options.ts'
import { printed, shrink } from './print.ts'
import { reachOf, type Script } from './reach/lines.ts'
import { STATES } from './reach/states.ts'
import type { Order } from './worker.ts'

const { values, operands } = commandLine(SIM)

const BATCH = 50
const SHRUNK_MOST = 3

const say = (line: string) => void process.stderr.write(`${line}\n`)
const print = (line: string) => void process.stdout.write(`${line}\n`)

async function playOne(seed: number): Promise<boolean> {
  const kits = openKits()
  const history = historyOf(seed)
  if ('machines' in history) return (await printMachines(seed, kits)) === null
  const { violation } = await play(history, kits)
  const shown = violation ? (await shrink(history, violation.invariant, kits)).history : history
  for (const line of await printed(shown, kits)) print(line)
  return violation === null
}

/** Two machines: printed whole, for their histories are short. */
async function printMachines(seed: number, kits: Kits): Promise<Violation | null> {
  const log: string[] = []
  // In a turn of its own: `quiet` relies on being asked by a microtask.
  await turn()
  const { violation } = await playHistory(seed, kits, log)
  for (const line of log) print(line)
  print(violation ? `=> ${violation.invariant}: ${violation.what}` : '=> every invariant held')
  return violation
}

/** Whether the host of this seed's history varies in all that the command line names. */
function isAsked(seed: number): boolean {
  const words = operands.length > 0 ? variationsOf(seed).flatMap(name => name.split(' ')) : []
  return operands.every(name => words.includes(name))
}

function* batchesOf(all: readonly number[]): Generator<readonly number[], undefined> {
  for (let done = 0; done < all.length; done += BATCH) yield all.slice(done, done + BATCH)
}

async function playMany(): Promise<boolean> {
  const { from, workers, reach } = values
  const seeds = [...range(from, values.seeds)].filter(isAsked)
  const began = process.hrtime.bigint()
  const whole = emptyTally()
  const scripts: Script[][] = []
  const batches = batchesOf(seeds)
  const work = async () => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: { reach } })
    const ask = async <T>(order: Order): Promise<T> => {
      worker.postMessage(order)
      return (await once(worker, 'message'))[0]
    }
    for (const batch of batches) {
      const tally = await ask<Tally>({ seeds: batch })
      addTally(whole, tally)
      for (const { seed, invariant, what } of tally.failures)
        say(`seed ${seed}: ${invariant}: ${what.slice(0, 200)}`)
      const { histories, failures } = whole
      if (process.stderr.isTTY || histories % 1000 < BATCH)
        say(`${histories} of ${seeds.length}, ${failures.length} failed`)
    }
    if (reach) scripts.push(await ask<Script[]>(null))
    await worker.terminate()
  }
  await Promise.all(Array.from({ length: workers }, work))
  const { histories, steps, failures } = whole
  const seconds = Number(process.hrtime.bigint() - began) / 1e9
  await printShortest(failures)
  if (reach) {
    for (const line of await reachOf(scripts)) print(line)
    for (const line of statesSeen(whole.seen)) print(line)
  }
  for (const name of [...whole.varied.keys()].sort()) {
    const { histories, failures } = whole.varied.get(name)!
    print(`${name}: ${histories}, ${failures}`)
  }
  // Of the processor's time: other work beside it does not count.
  const { user, system } = process.cpuUsage()
  const each = ((histories * 1e6) / (user + system)).toFixed(0)
  print(
    `${histories} seeds from ${from} in ${seconds.toFixed(0)} s, ${each} histories a second a core, ${steps} steps, ${failures.length} failures`,
  )
  return failures.length === 0
}

/** The most seldom first. */
function statesSeen(seen: Tally['seen']): string[] {
  const counts = Object.keys(STATES).map(state => [seen.get(state) ?? 0, state] as const)
  const lines = counts.sort(([one], [other]) => one - other).map(([times, state]) => `${times} × ${state}`)
  return [...lines, `${lines.length} seldom states`]
}

/** The first of each invariant. */
async function printShortest(failures: readonly Failure[]): Promise<void> {
  const kits = openKits()
  const first = [...Map.groupBy(failures, ({ invariant }) => invariant).values()].map(([failure]) => failure!)
  for (const { seed, invariant } of first.slice(0, SHRUNK_MOST)) {
    const history = historyOf(seed)
    print(`\nseed ${seed}${'machines' in history ? '' : ', shortened'}:`)
    if ('machines' in history) await printMachines(seed, kits)
    else for (const line of await printed((await shrink(history, invariant, kits)).history, kits)) print(line)
  }
}

/** Every small world. Answers whether every invariant held. */
async function exhaust(): Promise<boolean> {
  const kits = openKits()
  let failed = 0
  await turn()
  for (const start of STARTS)
    for (const bounds of BOUNDS) {
      const { worlds, merged, failures } = await explore(start, bounds, kits)
      const { faults, crashes, kinds, atOnce } = bounds
      for (const failure of failures) print(failure)
      print(
        `${start}; at most ${faults} faults (${kinds}) and ${crashes} crashes, ${atOnce} at once: ${worlds} worlds, ${merged} merged, ${failures.length} failures`,
      )
      failed += failures.length
    }
  return failed === 0
}

const { seed } = values
const held = await (values.exhaust ? exhaust() : seed === null ? playMany() : playOne(seed))
process.exitCode = held ? 0 : 1
