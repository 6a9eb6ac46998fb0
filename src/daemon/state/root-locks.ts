import type { DiskStat } from '../../local/disk.ts'
import { realDisk } from '../../local/real-disk.ts'
import { type Lock, LockedError, lockFolder } from '../../synced/lock.ts'

/** The locks on the mirrors' roots. A root that is not there has none: nothing of it is sent or deleted. */
export class RootLocks {
  #folders: readonly string[]
  readonly #locks = new Map<string, Lock>()

  constructor(folders: readonly string[]) {
    this.#folders = folders
  }

  /** Locks what is there and not locked yet. Answers the folders that another albumd has. */
  async lockMissing(): Promise<Map<string, LockedError>> {
    const taken = new Map<string, LockedError>()
    for (const folder of this.#folders) {
      const root = this.#locks.has(folder) ? null : lookAtRoot(folder)
      if (root === null) continue
      try {
        this.#locks.set(folder, await lockFolder(folder, root))
      } catch (error) {
        if (!(error instanceof LockedError)) throw error
        taken.set(folder, error)
      }
    }
    return taken
  }

  /** These are the roots. Those that are none any more are free for others. */
  follow(folders: readonly string[]): void {
    this.#folders = folders
    for (const [folder, lock] of this.#locks)
      if (!folders.includes(folder)) {
        lock.release()
        this.#locks.delete(folder)
      }
  }

  release(): void {
    for (const lock of this.#locks.values()) lock.release()
  }
}

function lookAtRoot(folder: string): DiskStat | null {
  try {
    return realDisk.lstat(folder)
  } catch {
    return null
  }
}
