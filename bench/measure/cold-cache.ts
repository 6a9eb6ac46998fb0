import { spawnSync } from 'node:child_process'
import { accessSync, constants, writeFileSync } from 'node:fs'

const DROP = '/proc/sys/vm/drop_caches'

/** Whether this process may make the system forget what it has read: as root, on a Linux of its own. */
export function canDropCaches(): boolean {
  try {
    accessSync(DROP, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** The system forgets files, names and inodes that it holds in memory. */
export function dropCaches(): void {
  spawnSync('sync')
  writeFileSync(DROP, '3')
}
