import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { build } from '../scripts/build.ts'

const ROOT = join(import.meta.dirname, '..')

/** The tests that start the program start what is shipped. It is made anew only where a source is newer: others may be
 * running it. */
export default async function buildFirst(): Promise<void> {
  const sources = ['src', 'scripts', 'package-lock.json'].map(name => join(ROOT, name))
  const made = statSync(join(ROOT, 'dist/cli/albumd.js'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (sources.some(path => newest(path) > made)) await build()
}

/** When a file, or a folder with all below, was last changed. A folder changes with what is removed from it, too. */
function newest(path: string): number {
  const stat = statSync(path)
  if (!stat.isDirectory()) return stat.mtimeMs
  return Math.max(stat.mtimeMs, ...readdirSync(path).map(name => newest(join(path, name))))
}
