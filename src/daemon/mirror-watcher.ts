import { openFolderWatcher } from '../local/folder-watcher.ts'
import { isBelow } from '../sync/tree-path.ts'
import type { Synced } from '../synced/synced.ts'
import type { StaleFolders } from './stale-folders.ts'

/** The watches of one mirror: one for each of its folders. */
export interface MirrorWatcher {
  /**
   * Begins to watch what the last scan found and is not watched yet, and to leave what it did not find. Each folder is
   * stale once its watch stands. Those that can't be watched are left alone until `tryLostAgain`.
   */
  follow(synced: Synced): void
  /** The next `follow` tries those again that could not be watched. Not sooner: each loss asks to look at everything. */
  tryLostAgain(): void
  /** Leaves at once, also what is yet to be opened. */
  close(): Promise<void>
}

export function openMirrorWatcher(
  mirror: string,
  stale: StaleFolders,
  say: (line: string) => void,
): MirrorWatcher {
  const named = new Set<string>()
  let someAreLost = false
  let nameAll = false
  let following = Promise.resolve()
  const watcher = openFolderWatcher(mirror, {
    onStale: folder => stale.add(mirror, folder),
    onLost({ code, message }) {
      say(message)
      // Which of them is lost is not told. An overflow loses events, and all watches stand.
      if (code !== 'WATCH_OVERFLOW') someAreLost = true
      stale.add(mirror, { everything: true })
    },
  })

  async function watchOnly(present: ReadonlySet<string>): Promise<void> {
    const gone = [...named].filter(path => !present.has(path))
    // Those that are watched already are left as they are.
    const found = [...present].filter(path => nameAll || !named.has(path))
    nameAll = false
    watcher.unwatch(gone)
    for (const path of gone) named.delete(path)
    for (const path of found) named.add(path)
    await watcher.watch(found)
    // What changed between the scan and the watch gave no event.
    for (const path of found) stale.add(mirror, path)
  }

  return {
    follow(synced) {
      const row = synced.mirrors.of(mirror)
      const folders = row ? synced.folders.ofMirror(row.id) : []
      // Those in doubt may be others when they come back, with no event: a mount has none.
      const doubts = folders.filter(({ unknown }) => unknown !== null).map(({ path }) => path)
      const isKnown = (path: string) => !doubts.some(doubt => path === doubt || isBelow(path, doubt))
      const present = new Set(folders.map(({ path }) => path).filter(isKnown))
      following = following.then(() => watchOnly(present))
    },
    tryLostAgain() {
      nameAll ||= someAreLost
      someAreLost = false
    },
    async close() {
      await watcher.close()
      await following
    },
  }
}
