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
export const MEMORY = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

export function makeRecorder(): Recorder {
  const home = mkdtempSync(join(MEMORY, `albumd-power-${process.pid}-`))
  const library = join(home, 'record-disk.so')
  const remove = () => rmSync(home, { recursive: true })
  try {
    compilePreload(join(import.meta.dirname, 'record-disk.c'), library)
  } catch (error) {
    remove()
    throw error
  }
  const disks = join(home, 'disks')
  mkdirSync(disks)
  return {
    env: { LD_PRELOAD: library, RECORD_BELOW: disks, RECORD_TO: join(home, 'record') },
    remove,
  }
}
