import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { version } from '../src/daemon/version.ts'
import { describe, loadNow } from './machine/describe.ts'
import { findTools } from './machine/tools.ts'
import { SyncedTrees } from './ours/synced-tree.ts'
import type { Part } from './part.ts'
import { durability } from './parts/durability.ts'
import { growth } from './parts/growth.ts'
import { latency } from './parts/latency.ts'
import { scan } from './parts/scan.ts'
import { upload } from './parts/upload.ts'
import { watch } from './parts/watch.ts'
import type { Figure } from './table/figure.ts'
import { tableOf } from './table/print.ts'

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
  try {
    for (const { name: part, measure } of chosen) {
      const add = (figure: Omit<Figure, 'part'>) => void figures.push({ part, ...figure })
      const began = performance.now()
      try {
        await measure({ short, cache, scratch, tools, trees, say: line => say(`${part}: ${line}`), add })
      } catch (error) {
        say(`${part}: ended early: ${(error as Error).stack}`)
        process.exitCode = 1
      }
      say(`${part}: ${Math.round((performance.now() - began) / 1000)} s in all`)
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
    process.stdout.write(
      `${[tableOf(figures), '', ...describe(cache, tools, version, loadBefore)].join('\n')}\n`,
    )
  }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

await main()
