import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Failure } from '../campaign.ts'
import type { Mutant } from './mutant.ts'

const run = promisify(execFile)
const here = (file: string) => fileURLToPath(new URL(file, import.meta.url))

/**
 * Plays the mutant's seed in a process where its protection is off, then `count` others from `from` on, until `most`
 * have failed. Answers the failures. Rejects where the mutant does not fit the source.
 */
export async function playMutant(
  { name, seed }: Mutant,
  { from, count, most }: { from: number; count: number; most: number },
): Promise<Failure[]> {
  const args = [
    '--import',
    here('mutant-hook.ts'),
    here('mutant-child.ts'),
    ...[seed, from, count, most].map(String),
  ]
  const { stdout } = await run(process.execPath, args, {
    env: { ...process.env, SIM_MUTANT: name },
    maxBuffer: 2 ** 26,
  })
  return JSON.parse(stdout) as Failure[]
}
