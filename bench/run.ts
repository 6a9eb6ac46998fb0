import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { version } from '../src/daemon/version.ts'
import { describe, loadNow } from './machine/describe.ts'
import { findTools } from './machine/tools.ts'
import { SyncedTrees } from './ours/synced-tree.ts'
import type { Means, Part } from './part.ts'
import { durability } from './parts/durability.ts'
import { growth } from './parts/growth.ts'
import { latency } from './parts/latency.ts'
import { scan } from './parts/scan.ts'
import { upload } from './parts/upload.ts'
import { watch } from './parts/watch.ts'
import type { Figure } from './table/figure.ts'
import { ABOUT_RATIOS, tableOf } from './table/print.ts'

/*
 * `npm run bench [-- PART…] [--short] [--cache FOLDER]`: albumd beside its peers, as one table of ratios. What is
 * measured is dist/, which npm builds first. Trees are made once and kept in the cache folder ($XDG_CACHE_HOME/albumd-bench).
 */

const PARTS: readonly Part[] = [scan, watch, latency, upload, durability, growth]

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: 'boolean', default: false },
    cache: {
      type: 'string',
      default: join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'albumd-bench'),
    },
  },
})

async function main(): Promise<void> {
  const unknown = positionals.filter(name => PARTS.every(part => part.name !== name))
  if (unknown.length > 0) {
    say(`${unknown.join(', ')}: no part of the bench; there are ${PARTS.map(part => part.name).join(', ')}`)
    process.exitCode = 2
    return
  }
  const chosen = PARTS.filter(part => positionals.length === 0 || positionals.includes(part.name))
  const { cache, short } = values
  mkdirSync(cache, { recursive: true })
  const scratch = mkdtempSync(join(tmpdir(), 'albumd-bench-'))
  const tools = findTools(say)
  if (!tools.has('time'))
    throw new Error('nothing can be measured without GNU time (Debian: apt-get install time)')
  const trees = new SyncedTrees(cache, say)
  const loadBefore = loadNow()
  const figures: Figure[] = []
  const beside: Promise<void>[] = []
  const nothingChanged: Means['nothingChanged'] = new Map()
  const start = performance.now()
  try {
    for (const { name: part, measure } of chosen) {
      const add = (figure: Omit<Figure, 'part'>) => void figures.push({ part, ...figure })
      const failed = (error: Error) => {
        say(`${part}: ended early: ${error.stack}`)
        process.exitCode = 1
      }
      const meanwhile = (work: Promise<void>) => void beside.push(work.catch(failed))
      const tell = (line: string) => say(`${part}: ${line}`)
      const began = performance.now()
      await measure({ short, cache, scratch, tools, trees, nothingChanged, say: tell, add, meanwhile }).catch(
        failed,
      )
      tell(`${secondsSince(began)} s in all`)
    }
    await Promise.all(beside)
  } finally {
    say(`${secondsSince(start)} s in all`)
    rmSync(scratch, { recursive: true, force: true })
    process.stdout.write(
      `${[tableOf(inOrder(figures)), '', ABOUT_RATIOS, ...describe(cache, tools, version, loadBefore)].join('\n')}\n`,
    )
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

await main()
