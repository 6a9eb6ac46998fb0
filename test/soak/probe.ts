import { appendFileSync } from 'node:fs'
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
  const handles = process.getActiveResourcesInfo().length
  appendFileSync(path, `${JSON.stringify({ heap: heapUsed, external: external + arrayBuffers, handles })}\n`)
}

// The scanner's threads take it in too.
if (file && isMainThread) setInterval(look, EVERY_MS, file).unref()
