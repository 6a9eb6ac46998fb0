import { spawnSync } from 'node:child_process'
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What is done with a path that ends in EIO. */
export interface Fault {
  operation: 'read' | 'write' | 'list'
  path: string
}

/** A disk that fails where and while it is told to, for a program in this environment. */
export interface FailingDisk {
  env: NodeJS.ProcessEnv
  fail(...faults: Fault[]): void
  heal(): void
}

const COMPILER = process.env.CC ?? 'cc'

/** It is a library that is put before the C library's, so it needs Linux and a compiler. */
export function canFail(): boolean {
  return process.platform === 'linux' && spawnSync(COMPILER, ['--version']).status === 0
}

/** `folder`: where the library and the list of faults are kept. */
export function makeFailingDisk(folder: string): FailingDisk {
  const library = join(folder, 'io-faults.so')
  const faults = join(folder, 'io-faults')
  const source = join(import.meta.dirname, 'io-faults.c')
  const compiled = spawnSync(COMPILER, ['-shared', '-fPIC', '-O1', '-o', library, source, '-ldl'], {
    encoding: 'utf8',
  })
  if (compiled.status !== 0) throw new Error(compiled.stderr)
  return {
    env: { LD_PRELOAD: library, IO_FAULTS: faults },
    fail(...list) {
      writeFileSync(`${faults}.new`, list.map(({ operation, path }) => `${operation} ${path}\n`).join(''))
      renameSync(`${faults}.new`, faults)
    },
    heal() {
      if (existsSync(faults)) rmSync(faults)
    },
  }
}
