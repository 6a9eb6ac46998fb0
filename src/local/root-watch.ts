import { type FSWatcher as FolderHandle, watch as watchFolder } from 'node:fs'
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
  /** The folder, or a folder above it, has come, gone or been replaced. */
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
  // chokidar first looks what exists, and watches only afterwards. Until chokidar watches, Node watches the folder.
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
    opened: promise,
    close() {
      // chokidar never says that a closed handle is ready.
      resolve()
      early?.close()
      for (const each of way) each.close()
      return handle.close()
    },
  }
}

/**
 * Watches all existing folders above a path, because inotify does not tell a folder that a folder above it was moved.
 * The topmost watch begins first. When a folder is replaced during the start, the watch above it notices.
 */
function watchWay(path: string, onWay: () => void): FolderHandle[] {
  const above = dirname(path)
  if (above === path) return []
  const handles = watchWay(above, onWay)
  const handle = watchNow(above, (event, name) => {
    // The event 'change' tells of permissions or times alone.
    if (event === 'rename' && name === basename(path)) onWay()
  })
  return handle ? [...handles, handle] : handles
}

/**
 * Watches a folder from this very moment on. Null: the folder is missing, or the system refuses the watch. The watch
 * above tells when a missing folder comes. When a refusal matters, the root's own watch reports it.
 */
function watchNow(path: string, onEvent: RootWatchOptions['onEvent']): FolderHandle | null {
  try {
    const handle = watchFolder(path, onEvent)
    handle.on('error', () => handle.close())
    return handle
  } catch {
    return null
  }
}
