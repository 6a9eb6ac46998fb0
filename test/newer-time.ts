import { lstatSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempFolder } from './temp-folder.ts'

/** Resolves once what is written gets another time than what was written before: the times of files go in steps. */
export async function newerTime(): Promise<void> {
  const probe = join(tempFolder(), 'probe')
  const now = () => {
    writeFileSync(probe, '')
    return lstatSync(probe, { bigint: true }).ctimeNs
  }
  const before = now()
  // In turns, so that others of this process go on.
  while (now() === before) await new Promise(setImmediate)
}
