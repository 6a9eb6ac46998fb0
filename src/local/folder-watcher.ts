import { basename, join, posix, resolve } from 'node:path'
import { FSWatcher } from 'chokidar'

/** Says which folders need a look, never what happened there. */
export interface FolderWatcher {
  /**
   * Watches folders: paths below the root with slashes, '' is the root. Those watched already are left as they are.
   * What happens in a folder before the promise resolves may go untold: look at it afterwards. Never rejects; a
   * folder that can't be watched is told as a loss, and tried again when it is named again.
   */
  watch(folders: readonly string[]): Promise<void>
  /** Ends the watches of folders and of all that lies below them. */
  unwatch(folders: readonly string[]): void
  /** Ends all watches. Nothing is told afterwards. */
  close(): Promise<void>
}

export interface FolderWatcherOptions {
  /** At once, and once for each event: a burst calls it thousands of times. */
  onStale(folder: string): void
  onLost(reason: WatchLoss): void
}

/** Why changes may go untold, in a sentence with the remedy. After WATCH_OVERFLOW every folder needs a look. */
export interface WatchLoss {
  code: 'WATCH_LIMIT' | 'WATCH_OVERFLOW' | 'WATCH_ERROR'
  message: string
}

/** Folders opened at a time. chokidar lists each when it opens it; many at once cost hundreds of megabytes. */
const BATCH = 16

/**
 * Events in one turn of the loop from which on some may be lost. The kernel drops what comes while 16,384 wait, and
 * says so to nobody who uses fs.watch. Half of that, because mirrors share the queue, and events of watches that
 * have just ended take room in it without being counted.
 */
const NEAR_OVERFLOW = 8192

const OVERFLOW: WatchLoss = {
  code: 'WATCH_OVERFLOW',
  message: 'So much changed at once that some of it may have gone unseen; all folders are looked at again.',
}

interface Watch {
  handle: FSWatcher
  /** Resolves the promise of whoever waits for the watch to stand. */
  opened(): void
  /** It will be closed and opened anew. */
  renewing: boolean
}

/** Opens nothing yet. `root` is the mirror's folder. */
export function openFolderWatcher(root: string, { onStale, onLost }: FolderWatcherOptions): FolderWatcher {
  /**
   * One FSWatcher a folder. A shared one grows for ever: each `unwatch` leaves filters and barriers behind that every
   * later event is held against (3,000 of them: 9 ms of CPU an event).
   */
  const watches = new Map<string, Watch>()
  const closing = new Set<Promise<void>>()
  const base = resolve(root)
  let closed = false
  /** A limit was met and told; nothing more is opened until the next list. */
  let full = false
  let heardThisTurn = 0

  function open(folder: string): Promise<void> {
    const path = join(base, folder)
    const { promise, resolve: opened } = Promise.withResolvers<void>()
    const watch: Watch = { handle: newHandle(path), opened, renewing: false }
    watches.set(folder, watch)
    watch.handle.on('ready', opened)
    watch.handle.on('raw', (event, name, about) => {
      const { watchedPath } = about as { watchedPath: string }
      if (watchedPath === path) heard(folder, event, name)
      // The folder is not there, and chokidar waits for it at the nearest folder above.
      else if (leadsTo(path, join(watchedPath, name ?? ''))) void renew(within([folder]))
    })
    watch.handle.on('error', error => {
      if (watches.get(folder) === watch) watches.delete(folder)
      void shut(watch)
      lose(lossOf(error, path))
    })
    watch.handle.add('.')
    return promise
  }

  function shut(watch: Watch): Promise<void> {
    const done = watch.handle.close().finally(() => closing.delete(done))
    closing.add(done)
    // A closed handle is never ready.
    watch.opened()
    return done
  }

  function heard(folder: string, event: string, name: string | null): void {
    if (heardThisTurn++ === 0) setImmediate(endTurn)
    onStale(folder)
    if (event !== 'rename' || name === null) return
    // A folder's own end bears its own name. Of the root's end nothing else tells.
    if (name === basename(join(base, folder))) void renew(within([folder]))
    const child = folder === '' ? name : `${folder}/${name}`
    if (watches.has(child)) void renew(within([child]))
  }

  function endTurn(): void {
    const heardInAll = heardThisTurn
    heardThisTurn = 0
    if (closed || heardInAll < NEAR_OVERFLOW) return
    onLost(OVERFLOW)
    // That a folder was replaced may be among what was lost.
    void renew([...watches.keys()])
  }

  function lose(loss: WatchLoss): void {
    if (loss.code === 'WATCH_LIMIT') {
      if (full) return
      full = true
    }
    onLost(loss)
  }

  /**
   * inotify watches an inode, whatever its path is by now. Where a folder was deleted, moved or replaced, the path is
   * opened again, and looked at: it may be another folder, or the same one, with events lost between.
   */
  async function renew(folders: readonly string[]): Promise<void> {
    const due: [string, Watch][] = []
    for (const folder of folders) {
      const watch = watches.get(folder)
      if (watch && !watch.renewing) due.push([folder, watch])
    }
    for (const [, watch] of due) watch.renewing = true
    await inBatches(due, async ([folder, old]) => {
      // A new watch beside the old one would share its dead inotify watch.
      await shut(old)
      if (watches.get(folder) !== old) return
      await open(folder)
      if (watches.has(folder)) onStale(folder)
    })
  }

  function within(folders: readonly string[]): string[] {
    const tops = new Set(folders)
    return [...watches.keys()].filter(folder => lineOf(folder).some(each => tops.has(each)))
  }

  return {
    async watch(folders) {
      full = false
      await inBatches(folders, async folder => {
        // At the limit every further folder would fail alike.
        if (!closed && !full && !watches.has(folder)) await open(folder)
      })
    },

    unwatch(folders) {
      for (const folder of within(folders)) {
        const watch = watches.get(folder)!
        watches.delete(folder)
        void shut(watch)
      }
    },

    async close() {
      closed = true
      for (const watch of watches.values()) void shut(watch)
      watches.clear()
      await Promise.all(closing)
    },
  }
}

/**
 * Watches a folder and no entry of it. The path is given as `cwd`, because chokidar takes a backslash in any other
 * path for a slash, and in what it asks `ignored` about.
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

async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < items.length; at += BATCH) await Promise.all(items.slice(at, at + BATCH).map(work))
}

/** A folder and those above it, up to the root. */
function lineOf(folder: string): string[] {
  const line = [folder]
  for (let at = folder.lastIndexOf('/'); at > 0; at = folder.lastIndexOf('/', at - 1))
    line.push(folder.slice(0, at))
  return folder === '' ? line : [...line, '']
}

/** Whether `path` is, or lies below, `above`. */
function leadsTo(path: string, above: string): boolean {
  return path === above || path.startsWith(join(above, '/'))
}

function lossOf(error: unknown, path: string): WatchLoss {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC') return { code: 'WATCH_LIMIT', message: limit('max_user_watches', 1_048_576) }
  if (code === 'EMFILE') return { code: 'WATCH_LIMIT', message: limit('max_user_instances', 1024) }
  return {
    code: 'WATCH_ERROR',
    message: `${path} can't be watched (${code ?? message}); check its permissions and its disk.`,
  }
}

function limit(key: string, more: number): string {
  const remedy = `sudo sysctl fs.inotify.${key}=${more}, and the same line in /etc/sysctl.d to keep it`
  return `The system's limit fs.inotify.${key} is reached, so some folders are not watched. Raise it: ${remedy}.`
}
