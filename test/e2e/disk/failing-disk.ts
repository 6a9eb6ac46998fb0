import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compilePreload } from '../../preload.ts'

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

/** `folder`: where the library and the list of faults are kept. */
export function makeFailingDisk(folder: string): FailingDisk {
  const library = join(folder, 'io-faults.so')
  const faults = join(folder, 'io-faults')
  compilePreload(join(import.meta.dirname, 'io-faults.c'), library)
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
