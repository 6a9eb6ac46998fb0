import { type FSWatcher as FolderHandle, watch as watchFolder } from 'node:fs'
import { basename, dirname, posix } from 'node:path'
import { FSWatcher } from 'chokidar'

/** The watch of a mirror's root. The root may be missing, and may come and go. */
export type RootWatch = ReturnType<typeof openRootWatch>

export interface RootWatchOptions {
  /** An event of fs.watch: 'rename' or 'change', and the entry's name. */
  onEvent(event: string, name: string | null): void
  /** The root, or a folder above it, has come, gone or been replaced. */
  onWay(): void
  onError(error: unknown): void
}

/** Watches a folder, and those above it, because they can be moved or replaced. Waits when the folder is missing. */
export function openRootWatch(path: string, { onEvent, onWay, onError }: RootWatchOptions) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const way = watchWay(path, onWay)
  const self = posix.normalize(path.replaceAll('\\', '/'))
  const handle = new FSWatcher({
    // As `cwd`, because chokidar turns backslashes into slashes in all other paths, also in those for `ignored`.
    cwd: path,
    depth: 0,
    ignored: candidate => candidate !== self,
    ignoreInitial: true,
    followSymlinks: false,
    // With `atomic`, chokidar hides names that end in ~.
    atomic: false,
  })
  // chokidar first looks at what exists, and begins to watch only then. Until chokidar is ready, Node watches the folder.
  const early = watchNow(path, onEvent)
  handle.on('ready', () => {
    early?.close()
    resolve()
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
    /** Resolves when the root is watched, is missing and waited for, could not be watched, or when the watch was closed. */
    opened: promise,
    /** Ends the watch. After this call, no callback is called. */
    close() {
      // `opened` is resolved here, because chokidar never says 'ready' after it was closed.
      resolve()
      early?.close()
      for (const each of way) each.close()
      return handle.close()
    },
  }
}

/** Watches all existing folders above a path, because inotify does not tell a folder that a folder above it was moved. The
 * watch of the topmost folder begins first. So when a folder is replaced before its own watch begins, the watch above
 * tells. */
function watchWay(path: string, onWay: () => void): FolderHandle[] {
  const above = dirname(path)
  if (above === path) return []
  const handles = watchWay(above, onWay)
  const handle = watchNow(above, (event, name) => {
    // An event 'change' means that only permissions or times have changed.
    if (event === 'rename' && name === basename(path)) onWay()
  })
  return handle ? [...handles, handle] : handles
}

/** Watches a folder from this moment on. Null: the folder is missing, or the system refuses the watch. For a missing folder
 * this does no harm, because the watch of the folder above tells when it comes. A refusal that matters is reported by the
 * watch of the root itself. */
function watchNow(path: string, onEvent: RootWatchOptions['onEvent']): FolderHandle | null {
  try {
    const handle = watchFolder(path, onEvent)
    handle.on('error', () => handle.close())
    return handle
  } catch {
    return null
  }
}
