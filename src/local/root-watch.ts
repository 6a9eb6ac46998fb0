import { existsSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
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
  /** A folder above a missing root has changed, so the root may be back. */
  onWay(): void
  onError(error: unknown): void
}

/**
 * Watches a folder, but nothing in it. When the folder is missing, chokidar watches the nearest folder above that exists.
 * The system alone can't do this.
 */
export function openRootWatch(path: string, { onEvent, onWay, onError }: RootWatchOptions): RootWatch {
  const { promise, resolve } = Promise.withResolvers<void>()
  const handle = newHandle(path)
  const before = nearestThere(path)
  handle.on('ready', () => {
    resolve()
    // chokidar looks what exists, and begins to watch afterwards. Changes between the two cause no event.
    if (nearestThere(path) !== before) onWay()
  })
  handle.on('raw', (event, name, about) => {
    const { watchedPath } = about as { watchedPath: string }
    if (watchedPath === path) onEvent(event, name)
    else if (leadsTo(path, join(watchedPath, name ?? ''))) onWay()
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
      return handle.close()
    },
  }
}

/**
 * The path is given as `cwd`, because chokidar turns backslashes into slashes in all other paths, also in the paths that it
 * passes to `ignored`.
 */
function newHandle(path: string): FSWatcher {
  const self = posix.normalize(path.replaceAll('\\', '/'))
  return new FSWatcher({
    cwd: path,
    depth: 0,
    ignored: candidate => candidate !== self,
    ignoreInitial: true,
    followSymlinks: false,
    // With `atomic`, chokidar hides names that end in ~.
    atomic: false,
  })
}

/** The path itself, or the nearest folder above it that exists. */
function nearestThere(path: string): string {
  let at = path
  while (at !== dirname(at) && !existsSync(at)) at = dirname(at)
  return at
}

/** Whether `path` is, or lies below, `above`. */
function leadsTo(path: string, above: string): boolean {
  return path === above || path.startsWith(join(above, '/'))
}
