import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compilePreload } from '../../preload.ts'

/** Records what a program in this environment does with the files below a folder. */
export interface Recorder {
  env: { LD_PRELOAD: string; RECORD_BELOW: string; RECORD_TO: string }
  remove(): void
}

/** In memory, where a sync takes no time: the record tells what a sync would have kept. */
const MEMORY = '/dev/shm'

export function makeRecorder(): Recorder {
  const home = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'albumd-power-'))
  const library = join(home, 'record-disk.so')
  compilePreload(join(import.meta.dirname, 'record-disk.c'), library)
  const disks = join(home, 'disks')
  mkdirSync(disks)
  return {
    env: { LD_PRELOAD: library, RECORD_BELOW: disks, RECORD_TO: join(home, 'record') },
    remove: () => rmSync(home, { recursive: true }),
  }
}
