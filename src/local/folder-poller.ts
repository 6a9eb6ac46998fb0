import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'

/**
 * Polls folders that the system does not watch. Polling a folder costs a twentieth of looking at its files. `poll` answers
 * the folders in which an entry was added, removed or renamed since the last poll, and the folders that the last poll did
 * not name. Paths are below the root; '' is the root. A file that was edited in place is not noticed, because its folder
 * does not change.
 */
export function openFolderPoller(root: string) {
  let known = new Map<string, string>()
  return {
    async poll(folders: readonly string[]): Promise<string[]> {
      const before = known
      known = new Map()
      await unhurried(folders, folder => known.set(folder, stampOf(join(root, folder))))
      return folders.filter(folder => before.get(folder) !== known.get(folder))
    },
  }
}

/** What changes when an entry of the folder does. An error is a stamp too, so another error counts as a change. */
export function stampOf(path: string): string {
  try {
    const { dev, ino, mtimeMs, ctimeMs } = lstatSync(path)
    return `${dev} ${ino} ${mtimeMs} ${ctimeMs}`
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code)
  }
}

/** Items for one turn of the event loop: a few milliseconds when each needs a system call. */
const BATCH = 256

/** Works on items one by one, and lets the event loop turn now and then. The first is worked on before it returns. */
export async function unhurried<T>(items: readonly T[], work: (item: T) => unknown): Promise<void> {
  for (const [at, item] of items.entries()) {
    if (at % BATCH === BATCH - 1) await turn()
    await work(item)
  }
}
