import { type FSWatcher, lstatSync, readFileSync, watch as watchFolder } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { unhurried } from './folder-poller.ts'
import { openRootWatch, type RootWatch } from './root-watch.ts'
import { lossOf, OVERFLOW, type WatchLoss } from './watch-loss.ts'

/** Says which folders need a look, never what happened there. */
export interface FolderWatcher {
  /**
   * Watches folders: paths below the root with slashes, '' is the root; a folder comes with or after those above it.
   * Those watched already are left as they are, the others are tried again. What happens in a folder
   * before the promise resolves may go untold: look at it afterwards. Never rejects.
   */
  watch(folders: readonly string[]): Promise<void>
  /** Ends the watches of folders and of all that lies below them. */
  unwatch(folders: readonly string[]): void
  /** Opens the watches of folders and of all below anew, and tells of each: another folder may stand there. */
  renew(folders: readonly string[]): void
  /** Those that were to be watched, are there, and can't be: nothing tells of what happens in them. */
  lost(): string[]
  /** Ends all watches. Nothing is told afterwards. */
  close(): Promise<void>
}

export interface FolderWatcherOptions {
  /** At once, and once for each event: a burst calls it thousands of times. */
  onStale(folder: string): void
  /**
   * A folder can't be watched; `lost` names it. A limit is told once for each list, whatever else it stops. After
   * WATCH_OVERFLOW every folder needs a look.
   */
  onLost(loss: WatchLoss): void
}

/** A folder's watch: chokidar's, or none while the folder is not there, or the system refuses it. */
type Watch = FSWatcher | 'root' | 'away' | 'lost'

/**
 * Opens nothing yet. `root` is the mirror's folder.
 *
 * chokidar watches the root, and waits where there is none. The folders below are watched by Node itself: their
 * parents tell of their coming and going, and a chokidar for each costs ten times the memory and the CPU of the start.
 */
export function openFolderWatcher(root: string, { onStale, onLost }: FolderWatcherOptions): FolderWatcher {
  const base = resolve(root)
  const watches = new Map<string, Watch>()
  let rootWatch: RootWatch | null = null
  const closing = new Set<Promise<void>>()
  const due = new Set<string>()
  const nearOverflow = eventsNearOverflow()
  let closed = false
  /** A limit was met and told; nothing more is opened until the next list. */
  let full = false
  let heardThisTurn = 0
  let renewing = false

  function open(folder: string): void {
    const path = join(base, folder)
    try {
      // fs.watch would follow a symbolic link.
      if (!lstatSync(path).isDirectory()) watches.set(folder, 'away')
      else {
        const handle = watchFolder(path, (event, name) => {
          if (watches.get(folder) === handle) heard(folder, event, name)
        })
        handle.on('error', error => {
          handle.close()
          if (watches.get(folder) === handle) lose(folder, error)
        })
        watches.set(folder, handle)
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR') watches.set(folder, 'away')
      else lose(folder, error)
    }
  }

  /** As for the others, but one that is away is waited for. */
  async function openRoot(): Promise<void> {
    rootWatch = openRootWatch(base, {
      onEvent: (event, name) => heard('', event, name),
      onWay: () => renew(['']),
      onError: error => {
        shutRoot()
        lose('', error)
      },
    })
    watches.set('', 'root')
    await rootWatch.opened
  }

  function shutRoot(): void {
    const done = rootWatch?.close().finally(() => closing.delete(done!))
    if (done) closing.add(done)
    rootWatch = null
  }

  function lose(folder: string, error: unknown): void {
    watches.set(folder, 'lost')
    const loss = lossOf(error, join(base, folder))
    if (loss.code === 'WATCH_LIMIT') {
      if (full) return
      full = true
    }
    onLost(loss)
  }

  function heard(folder: string, event: string, name: string | null): void {
    if (heardThisTurn++ === 0) setImmediate(endTurn)
    onStale(folder)
    if (event !== 'rename' || name === null) return
    // A folder's own end bears its own name. Of the root's end nothing else tells.
    if (name === basename(join(base, folder))) renew([folder])
    const child = folder === '' ? name : `${folder}/${name}`
    if (watches.has(child)) renew([child])
  }

  function endTurn(): void {
    const heardInAll = heardThisTurn
    heardThisTurn = 0
    if (closed || heardInAll < nearOverflow) return
    onLost(OVERFLOW)
    // That a folder was replaced may be among what was lost.
    renew([''])
  }

  /**
   * inotify watches an inode, whatever its path is by now. Where a folder was deleted, moved or replaced, the path is
   * opened again, and looked at: it may be another folder, or the same one, with events lost between. Many come
   * together when a tree goes, so they are collected for a turn.
   */
  function renew(folders: readonly string[]): void {
    for (const folder of folders) due.add(folder)
    if (renewing || due.size === 0) return
    renewing = true
    void renewDue()
  }

  async function renewDue(): Promise<void> {
    await turn()
    while (due.size > 0 && !closed) {
      const folders = within(due)
      due.clear()
      full = false
      for await (const folder of unhurried(folders)) await renewOne(folder)
    }
    renewing = false
  }

  async function renewOne(folder: string): Promise<void> {
    if (closed || !watches.has(folder)) return
    shut(folder)
    // A new watch beside the old one would share its dead inotify watch.
    if (folder === '') await Promise.all(closing)
    await openUnlessFull(folder)
    if (!closed && watches.has(folder)) onStale(folder)
  }

  /** At the limit every further folder would fail alike. */
  async function openUnlessFull(folder: string): Promise<void> {
    if (closed) return
    if (full) watches.set(folder, 'lost')
    else if (folder === '') await openRoot()
    else open(folder)
  }

  function shut(folder: string): void {
    const watch = watches.get(folder)
    if (folder === '') shutRoot()
    else if (typeof watch === 'object') watch.close()
  }

  /** Of those that are to be watched, the folders named and all below. */
  function within(tops: ReadonlySet<string>): string[] {
    return [...watches.keys()].filter(folder => tops.has('') || lineOf(folder).some(each => tops.has(each)))
  }

  return {
    async watch(folders) {
      full = false
      for await (const folder of unhurried(folders)) {
        const known = watches.get(folder)
        if (known !== 'root' && typeof known !== 'object') await openUnlessFull(folder)
      }
    },

    unwatch(folders) {
      if (folders.length === 0) return
      for (const folder of within(new Set(folders))) {
        shut(folder)
        watches.delete(folder)
      }
    },

    renew,

    lost: () => [...watches].flatMap(([folder, watch]) => (watch === 'lost' ? folder : [])),

    async close() {
      closed = true
      for (const folder of watches.keys()) shut(folder)
      watches.clear()
      await Promise.all(closing)
    },
  }
}

/** A folder and those above it, but not the root, which is above all. */
function lineOf(folder: string): string[] {
  const line = [folder]
  for (let at = folder.lastIndexOf('/'); at > 0; at = folder.lastIndexOf('/', at - 1))
    line.push(folder.slice(0, at))
  return line
}

/**
 * Events in one turn of the loop from which on some may be lost. The kernel drops what comes while its queue is full,
 * and says so to nobody who uses fs.watch. Half of the queue, because mirrors share it, and events of watches that
 * have just ended take room in it without being counted.
 */
function eventsNearOverflow(): number {
  try {
    return Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8')) / 2
  } catch {
    return 8192
  }
}
