import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** A disk whose flushes take longer, for a program in this environment. */
export interface SlowDisk {
  env(delayMs: number): NodeJS.ProcessEnv
  /** Flushes since it was asked the last time. */
  flushes(): number
}

/** Compiles it into `folder`. Throws with the compiler's words. */
export function makeSlowDisk(folder: string): SlowDisk {
  const library = join(folder, 'slow-sync.so')
  const counted = join(folder, 'flushes')
  const source = join(import.meta.dirname, 'slow-sync.c')
  const { status, stderr } = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl'], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stderr)
  return {
    env: delayMs => ({
      LD_PRELOAD: library,
      SLOW_SYNC_US: String(Math.round(delayMs * 1000)),
      SLOW_SYNC_COUNT: counted,
    }),
    flushes() {
      const flushes = existsSync(counted) ? statSync(counted).size : 0
      rmSync(counted, { force: true })
      return flushes
    },
  }
}
