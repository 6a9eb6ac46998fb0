import { appendFileSync } from 'node:fs'
import { getHeapSpaceStatistics, queryObjects } from 'node:v8'
import { isMainThread } from 'node:worker_threads'

/*
 * Taken in by the daemon's process before the program (--import, with --expose-gc): every ten seconds a line about what
 * only the process itself can see, in the file that $ALBUMD_SOAK_PROBE names.
 */

const EVERY_MS = 10_000
const file = process.env.ALBUMD_SOAK_PROBE

function look(path: string): void {
  globalThis.gc?.()
  const { heapUsed, external, arrayBuffers } = process.memoryUsage()
  const seen = {
    heap: heapUsed - codeBytes(),
    objects: queryObjects(Object, { format: 'count' }),
    external: external + arrayBuffers,
    handles: process.getActiveResourcesInfo().length,
  }
  appendFileSync(path, `${JSON.stringify(seen)}\n`)
}

/** What the engine compiles of our functions: it grows for hours, ever more slowly, and would hide a small leak. */
function codeBytes(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name }) => /^(code|trusted)_/.test(space_name))
  return spaces.reduce((sum, { space_used_size }) => sum + space_used_size, 0)
}

// The scanner's threads take it in too.
if (file && isMainThread) setInterval(look, EVERY_MS, file).unref()
