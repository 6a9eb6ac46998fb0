import { existsSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { FSWatcher } from 'chokidar'

/** The watch of a mirror's root, which may be away, come and go. */
export interface RootWatch {
  /** Resolves once it stands, or waits above for a root that is not there, or has failed, or was closed. */
  opened: Promise<void>
  close(): Promise<void>
}

export interface RootWatchOptions {
  /** As fs.watch tells: 'rename' or 'change', and the entry's name. */
  onEvent(event: string, name: string | null): void
  /** Something happened on the way to a root that is not there: it may be back. */
  onWay(): void
  onError(error: unknown): void
}

/**
 * Watches a folder and no entry of it. chokidar does what the system does not: where the folder is missing, it waits
 * at the nearest one above, however far up.
 */
export function openRootWatch(path: string, { onEvent, onWay, onError }: RootWatchOptions): RootWatch {
  const { promise, resolve } = Promise.withResolvers<void>()
  const handle = newHandle(path)
  const before = nearestThere(path)
  handle.on('ready', () => {
    resolve()
    // chokidar looks what is there, and then begins to watch: what came between the two gave no event.
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
 * The path is given as `cwd`, because chokidar takes a backslash in any other path for a slash, and in what it asks
 * `ignored` about.
 */
function newHandle(path: string): FSWatcher {
  const self = posix.normalize(path.replaceAll('\\', '/'))
  return new FSWatcher({
    cwd: path,
    depth: 0,
    ignored: candidate => candidate !== self,
    ignoreInitial: true,
    followSymlinks: false,
    // Else names that end in ~ are invisible.
    atomic: false,
  })
}

/** The path itself, or of the folders above it the lowest that is there. */
function nearestThere(path: string): string {
  let at = path
  while (at !== dirname(at) && !existsSync(at)) at = dirname(at)
  return at
}

/** Whether `path` is, or lies below, `above`. */
function leadsTo(path: string, above: string): boolean {
  return path === above || path.startsWith(join(above, '/'))
}
