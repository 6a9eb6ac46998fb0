import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { version } from '../src/daemon/package.ts'
import { describe, loadNow } from './machine/describe.ts'
import { LeftOut } from './machine/left-out.ts'
import { findTools } from './machine/tools.ts'
import { type Options, readOptions, usageOf } from './options.ts'
import { SyncedTrees } from './ours/synced-tree.ts'
import type { Means, Part } from './part.ts'
import { accidents } from './parts/accidents.ts'
import { durability } from './parts/durability.ts'
import { growth } from './parts/growth.ts'
import { latency } from './parts/latency.ts'
import { machines } from './parts/machines.ts'
import { scan } from './parts/scan.ts'
import { start } from './parts/start.ts'
import { upload } from './parts/upload.ts'
import { watch } from './parts/watch.ts'
import type { Figure } from './table/figure.ts'
import { ABOUT_RATIOS, tableOf } from './table/print.ts'

/*
 * `npm run bench [-- PART…] [--short] [--cache FOLDER]`: albumd beside its peers, as one table of ratios. What is
 * measured is dist/, which npm builds first. Trees are made once and kept in the cache folder ($XDG_CACHE_HOME/albumd-bench).
 * Ends with 1 where something could not be measured, with 2 where the command line is not understood.
 */

const PARTS: readonly Part[] = [start, scan, watch, latency, upload, durability, growth, machines, accidents]

async function main(): Promise<void> {
  let options: Options<Part> | null
  try {
    options = readOptions(process.argv.slice(2), PARTS)
  } catch (error) {
    return refuse(`${(error as Error).message} (npm run bench -- --help lists parts and options)`, 2)
  }
  if (options) await bench(options)
  else process.stdout.write(`${usageOf(PARTS)}\n`)
}

async function bench({ cache, parts, short }: Options<Part>): Promise<void> {
  const tools = findTools(say)
  if (!tools.has('time'))
    return refuse('nothing can be measured without GNU time: install it (Debian: apt-get install time)', 1)
  try {
    mkdirSync(cache, { recursive: true })
  } catch (error) {
    return refuse(`no trees can be kept there: ${(error as Error).message} (--cache FOLDER names another)`, 2)
  }
  const scratch = mkdtempSync(join(tmpdir(), 'albumd-bench-'))
  const trees = new SyncedTrees(cache, say)
  const loadBefore = loadNow()
  const figures: Figure[] = []
  const leftOut = new LeftOut(tools)
  const beside: Promise<void>[] = []
  const nothingChanged: Means['nothingChanged'] = new Map()
  const beganAll = performance.now()
  try {
    for (const { name: part, measure } of parts) {
      const add = (figure: Omit<Figure, 'part'>) => void figures.push({ part, ...figure })
      const failed = (error: Error) => {
        say(`${part}: ended early: ${error.stack}`)
        process.exitCode = 1
      }
      const meanwhile = (work: Promise<void>) => void beside.push(work.catch(failed))
      const has: Means['has'] = (tool, what) => leftOut.has(tool, part, what)
      const tell = (line: string) => say(`${part}: ${line}`)
      const began = performance.now()
      await measure({ short, cache, scratch, trees, nothingChanged, has, say: tell, add, meanwhile }).catch(
        failed,
      )
      tell(`${secondsSince(began)} s in all`)
    }
    await Promise.all(beside)
  } finally {
    say(`${secondsSince(beganAll)} s in all`)
    rmSync(scratch, { recursive: true, force: true })
    const foot = [ABOUT_RATIOS, ...leftOut.lines(), ...describe(cache, tools, version, loadBefore)]
    process.stdout.write(`${[tableOf(inOrder(figures)), '', ...foot].join('\n')}\n`)
  }
}

function refuse(line: string, code: number): void {
  say(line)
  process.exitCode = code
}

function secondsSince(began: number): number {
  return Math.round((performance.now() - began) / 1000)
}

/** What was measured beside other parts came later. */
function inOrder(figures: readonly Figure[]): Figure[] {
  return PARTS.flatMap(({ name }) => figures.filter(({ part }) => part === name))
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

await main()
