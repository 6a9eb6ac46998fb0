import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandLine, refuse } from '../scripts/command-line.ts'
import { version } from '../src/daemon/package.ts'
import { describe, loadNow } from './machine/describe.ts'
import { LeftOut } from './machine/left-out.ts'
import { findTools } from './machine/tools.ts'
import { benchOf, partsOf } from './options.ts'
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
import { walk } from './parts/walk.ts'
import { watch } from './parts/watch.ts'
import type { Figure } from './table/figure.ts'
import { ABOUT_RATIOS, tableOf } from './table/print.ts'

const PARTS: readonly Part[] = [
  ...[start, scan, watch, latency, upload, walk, durability, growth, machines, accidents],
]

const BENCH = benchOf(PARTS)
const { values, operands } = commandLine(BENCH)

async function bench(): Promise<void> {
  const { short, cache } = values
  const tools = findTools(say)
  if (!tools.has('time')) {
    say('nothing can be measured without GNU time: install it (Debian: apt-get install time)')
    process.exitCode = 1
    return
  }
  try {
    mkdirSync(cache, { recursive: true })
  } catch (error) {
    refuse(BENCH, `--cache: no trees can be kept there: ${(error as Error).message}`)
  }
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: ['ignore', 2, 2] })
  const scratch = mkdtempSync(join(tmpdir(), 'albumd-bench-'))
  const trees = new SyncedTrees(cache, say)
  const loadBefore = loadNow()
  const figures: Figure[] = []
  const leftOut = new LeftOut(tools)
  const beside: Promise<void>[] = []
  const nothingChanged: Means['nothingChanged'] = new Map()
  const beganAll = performance.now()
  try {
    for (const { name: part, measure } of partsOf(PARTS, operands)) {
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

await bench()
