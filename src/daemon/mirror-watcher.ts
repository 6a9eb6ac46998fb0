import { openFolderWatcher } from '../local/folder-watcher.ts'
import type { Synced } from '../synced/synced.ts'
import type { StaleFolders } from './stale-folders.ts'

/** The watches of one mirror: one for each of its folders. */
export interface MirrorWatcher {
  /** Watches the folders that the last scan found and that are not watched yet. */
  follow(synced: Synced): Promise<void>
  close(): Promise<void>
}

export function openMirrorWatcher(
  mirror: string,
  stale: StaleFolders,
  say: (line: string) => void,
): MirrorWatcher {
  const watched = new Set<string>()
  const watcher = openFolderWatcher(mirror, {
    onStale: folder => stale.add(mirror, folder),
    onLost({ message }) {
      say(message)
      stale.add(mirror, { everything: true })
    },
  })
  return {
    async follow(synced) {
      const row = synced.mirrors.of(mirror)
      const present = new Set(row ? synced.folders.ofMirror(row.id).map(({ path }) => path) : [])
      const gone = [...watched].filter(path => !present.has(path))
      const found = [...present].filter(path => !watched.has(path))
      await watcher.unwatch(gone)
      await watcher.watch(found)
      for (const path of gone) watched.delete(path)
      for (const path of found) {
        watched.add(path)
        // What changed between the scan and the watch gave no event.
        stale.add(mirror, path)
      }
    },
    close: () => watcher.close(),
  }
}
