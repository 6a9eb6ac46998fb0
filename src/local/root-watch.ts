import { type FSWatcher as FolderHandle, lstatSync, watch as watchFolder } from 'node:fs'
import { basename, dirname, posix } from 'node:path'
import { FSWatcher } from 'chokidar'

/** The watch of a mirror's root. The root may be missing, and may come and go. */
export interface RootWatch {
  /** Resolves when the watch has begun, waits for a missing root, has failed, or was closed. */
  opened: Promise<void>
  /** No callback is called from then on. */
  close(): Promise<void>
}

export interface RootWatchOptions {
  /** An event of fs.watch: 'rename' or 'change', and the entry's name. */
  onEvent(event: string, name: string | null): void
  /** The folder has changed while its watch began, or it or a folder above it has come, gone or been replaced. */
  onWay(): void
  onError(error: unknown): void
}

/** Watches a folder, but nothing in it, and the way that leads to it. chokidar waits where the folder is missing. */
export function openRootWatch(path: string, { onEvent, onWay, onError }: RootWatchOptions): RootWatch {
  const { promise, resolve } = Promise.withResolvers<void>()
  const way = watchWay(path, onWay)
  const self = posix.normalize(path.replaceAll('\\', '/'))
  const handle = new FSWatcher({
    // chokidar turns backslashes into slashes in all other paths, also in those that it passes to `ignored`.
    cwd: path,
    depth: 0,
    ignored: candidate => candidate !== self,
    ignoreInitial: true,
    followSymlinks: false,
    // With `atomic`, chokidar hides names that end in ~.
    atomic: false,
  })
  const before = stampOf(path)
  handle.on('ready', () => {
    resolve()
    // chokidar looks what exists, and begins to watch afterwards. Changes between the two cause no event.
    if (stampOf(path) !== before) onWay()
  })
  handle.on('raw', (event, name, about) => {
    const { watchedPath } = about as { watchedPath: string }
    if (watchedPath === path) onEvent(event, name)
  })
  handle.on('error', error => {
    resolve()
    onError(error)
  })
  handle.add('.')
  return {
    opened: promise,
    close() {
      // A closed handle is never ready.
      resolve()
      for (const each of way) each.close()
      return handle.close()
    },
  }
}

/**
 * Watches the folders above a path that exist. All of them, because inotify does not tell a folder that a folder above it
 * was moved. From the top, so that what comes in the place of a folder during the start is noticed above it.
 */
function watchWay(path: string, onWay: () => void): FolderHandle[] {
  const above = dirname(path)
  if (above === path) return []
  const handles = watchWay(above, onWay)
  try {
    const handle = watchFolder(above, (event, name) => {
      // A change is of permissions or times alone.
      if (event === 'rename' && name === basename(path)) onWay()
    })
    handle.on('error', () => handle.close())
    handles.push(handle)
  } catch {
    // The folder is missing, and the watch above it will tell when it comes. Or the system refuses this watch, which the
    // root's own watch tells where it matters.
  }
  return handles
}

/** What changes when an entry of the folder does. An error is a stamp too, so another error counts as a change. */
function stampOf(path: string): string {
  try {
    const { dev, ino, mtimeMs, ctimeMs } = lstatSync(path)
    return `${dev} ${ino} ${mtimeMs} ${ctimeMs}`
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code)
  }
}
