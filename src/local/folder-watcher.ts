import { closeSync, type FSWatcher, lstatSync, openSync, watch as watchFolder } from 'node:fs'
import { devNull } from 'node:os'
import { basename, dirname, join, posix, resolve } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { FSWatcher as Chokidar } from 'chokidar'
import { because, type Reason } from '../words/reasons.ts'
import type { EventQueue } from './event-queue.ts'

export interface FolderWatcherOptions {
  queue: EventQueue
  /** A folder needs a look. This is called for each event, at once, so a burst of events calls it thousands of times. */
  onStale(folder: string): void
  /** Called when a folder can't be watched; `lost()` returns the folder. A limit of the system is reported once for each call of
   * `watch`, however many folders it concerns. After WATCH_OVERFLOW every folder needs a look. */
  onLost(loss: WatchLoss): void
  /** Called before watches are opened. Whoever notices mounts must read their list now, because no event shows a mount. */
  beforeOpening?(): void
}

/** The state of a folder's watch. 'away': the folder is missing. 'lost': the system refused the watch. */
type Watch = FSWatcher | RootWatch | 'away' | 'lost'

/** Watches the folders of a mirror, and says which need a look, never what happened there. It watches nothing at first.
 *
 * chokidar watches the root, and waits for a missing root. The folders below the root are watched by Node itself. When such
 * a folder comes or goes, the watch of the folder above reports it. A chokidar for each folder would cost ten times the
 * memory, and ten times the CPU of the start. */
export class FolderWatcher {
  readonly #base: string
  readonly #calls: FolderWatcherOptions
  readonly #watches = new Map<string, Watch>()
  readonly #closing = new Set<Promise<void>>()
  readonly #due = new Set<string>()
  readonly #endHearing: () => void
  #isClosed = false
  /** Whether the system has refused a watch because of a limit. Then no watch is opened until the next call of `watch`. */
  #isFull = false
  #isRenewing = false

  /** `root`: the mirror's folder. */
  constructor(root: string, calls: FolderWatcherOptions) {
    this.#base = resolve(root)
    this.#calls = calls
    this.#endHearing = calls.queue.onLost(() => this.#eventsLost())
  }

  /** Watches folders: paths below the root with slashes; '' is the root. The folders above a folder must be named before it,
   * or in an earlier call. A folder that is watched already stays so; a folder whose watch failed is tried again. What
   * happens in a folder before the promise resolves may cause no call of `onStale`, so look at the folder afterwards. When
   * a call names the root for the first time, `onStale` tells of the root from that call on. Never rejects. */
  async watch(folders: readonly string[]): Promise<void> {
    this.#isFull = false
    if (folders.length > 0) this.#calls.beforeOpening?.()
    await unhurried(folders, async folder => {
      if (typeof this.#watches.get(folder) !== 'object') await this.#openUnlessFull(folder)
    })
  }

  /** Ends the watches of these folders and of all folders below them. */
  unwatch(folders: readonly string[]): void {
    if (folders.length === 0) return
    for (const folder of this.#within(new Set(folders))) {
      this.#shut(folder)
      this.#watches.delete(folder)
    }
  }

  /** Ends the watches of these folders and of all folders below them, opens each watch again, and calls `onStale` for each
   * folder. inotify watches an inode, and goes on to watch the inode when its folder is moved. So when a folder was deleted,
   * moved or replaced, another folder may be at its path now, or the same folder again after events were missed. When a
   * tree is deleted, many folders end at once, so they are collected for one turn of the event loop. */
  renew(folders: readonly string[]): void {
    for (const folder of folders) this.#due.add(folder)
    if (this.#isRenewing || this.#due.size === 0) return
    this.#isRenewing = true
    void this.#renewDue()
  }

  /** The folders that exist and can't be watched, so that albumd does not notice what happens in them. */
  lost(): string[] {
    return [...this.#watches].flatMap(([folder, watch]) => (watch === 'lost' ? folder : []))
  }

  /** Ends all watches. After this call, no callback is called. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#endHearing()
    for (const folder of this.#watches.keys()) this.#shut(folder)
    this.#watches.clear()
    await Promise.all(this.#closing)
  }

  /** Opens a watch, unless a limit of the system was met: the system would refuse it too. */
  async #openUnlessFull(folder: string): Promise<void> {
    if (this.#isClosed) return
    if (this.#isFull) this.#watches.set(folder, 'lost')
    else if (folder === '') await this.#openRoot()
    else this.#open(folder)
  }

  /** Opens the root's watch, which also waits for a missing root. */
  async #openRoot(): Promise<void> {
    const watch = openRootWatch(this.#base, {
      onEvent: (event, name) => this.#heard('', event, name),
      onWay: () => this.renew(['']),
      onElsewhere: this.#calls.queue.heard,
      onError: error => {
        this.#shut('')
        this.#lose('', error)
      },
    })
    this.#watches.set('', watch)
    await watch.opened
  }

  #open(folder: string): void {
    const path = join(this.#base, folder)
    try {
      // fs.watch would follow a symbolic link, and a link is not mirrored.
      if (!lstatSync(path).isDirectory()) this.#watches.set(folder, 'away')
      else {
        const handle = watchFolder(path, (event, name) => {
          if (this.#watches.get(folder) === handle) this.#heard(folder, event, name)
        })
        handle.on('error', error => {
          handle.close()
          if (this.#watches.get(folder) === handle) this.#lose(folder, error)
        })
        this.#watches.set(folder, handle)
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'ENOENT' || code === 'ENOTDIR') this.#watches.set(folder, 'away')
      else this.#lose(folder, error)
    }
  }

  #lose(folder: string, error: unknown): void {
    this.#watches.set(folder, 'lost')
    const loss = lossOf(error, join(this.#base, folder))
    if (loss.code === 'WATCH_LIMIT') {
      if (this.#isFull) return
      this.#isFull = true
    }
    this.#calls.onLost(loss)
  }

  #heard(folder: string, event: string, name: string | null): void {
    this.#calls.queue.heard()
    this.#calls.onStale(folder)
    if (event !== 'rename' || name === null) return
    // When a folder is deleted or moved, its own watch reports an event with the folder's own name.
    if (name === basename(join(this.#base, folder))) this.renew([folder])
    const child = folder === '' ? name : `${folder}/${name}`
    if (this.#watches.has(child)) this.renew([child])
  }

  #eventsLost(): void {
    this.#calls.onLost(OVERFLOW)
    // Events were perhaps lost, and a lost event may have said that a folder was replaced. So all watches are opened again.
    this.renew([''])
  }

  async #renewDue(): Promise<void> {
    await turn()
    while (this.#due.size > 0 && !this.#isClosed) {
      this.#calls.beforeOpening?.()
      const folders = this.#within(this.#due)
      this.#due.clear()
      this.#isFull = false
      await unhurried(folders, folder => this.#renewOne(folder))
    }
    this.#isRenewing = false
  }

  async #renewOne(folder: string): Promise<void> {
    if (this.#isClosed || !this.#watches.has(folder)) return
    this.#shut(folder)
    // The root's old watch must be closed first. Otherwise the new watch would share the dead inotify watch of the old one.
    if (folder === '') await Promise.all(this.#closing)
    await this.#openUnlessFull(folder)
    if (!this.#isClosed && this.#watches.has(folder)) this.#calls.onStale(folder)
  }

  #shut(folder: string): void {
    const watch = this.#watches.get(folder)
    const ending = typeof watch === 'object' ? watch.close() : undefined
    const done = ending?.finally(() => this.#closing.delete(done!))
    if (done) this.#closing.add(done)
  }

  /** The watched folders that are in `tops`, and those that lie below a folder in `tops`. */
  #within(tops: ReadonlySet<string>): string[] {
    return [...this.#watches.keys()].filter(
      folder => tops.has('') || lineOf(folder).some(each => tops.has(each)),
    )
  }
}

/** A folder and the folders above it, except the root. */
function lineOf(folder: string): string[] {
  const line = [folder]
  for (let at = folder.lastIndexOf('/'); at > 0; at = folder.lastIndexOf('/', at - 1))
    line.push(folder.slice(0, at))
  return line
}

/** Why changes on the disk may not be noticed. */
export interface WatchLoss {
  code: 'WATCH_LIMIT' | 'WATCH_OVERFLOW' | 'WATCH_ERROR'
  message: Reason
}

/** The loss when so much changed at once that the kernel may have dropped events. Nobody knows in which folders. */
export const OVERFLOW: WatchLoss = {
  code: 'WATCH_OVERFLOW',
  message: because('events_lost', { key: 'max_queued_events' }),
}

/** The loss that an error means when a watch can't be opened. `path`: the folder's absolute path. */
export function lossOf(error: unknown, path: string): WatchLoss {
  const { code, message } = error as NodeJS.ErrnoException
  const limit =
    code === 'ENOSPC' ? 'max_user_watches' : code === 'EMFILE' && mayOpenFiles() ? 'max_user_instances' : null
  if (limit) return { code: 'WATCH_LIMIT', message: because('watch_limit_reached', { key: limit }) }
  return {
    code: code === 'EMFILE' ? 'WATCH_LIMIT' : 'WATCH_ERROR',
    message: because('not_watched', { path, code: code ?? message }),
  }
}

/** Whether files can still be opened. If so, EMFILE means that there are no more inotify instances. */
function mayOpenFiles(): boolean {
  try {
    closeSync(openSync(devNull, 'r'))
    return true
  } catch {
    return false
  }
}

/** How many items are worked on before the event loop turns: a few milliseconds of system calls. */
const BATCH = 256

/** Works on items one after the other, on the first at once. The event loop turns after every `BATCH`. */
async function unhurried<T>(items: readonly T[], work: (item: T) => unknown): Promise<void> {
  for (const [at, item] of items.entries()) {
    if (at % BATCH === BATCH - 1) await turn()
    await work(item)
  }
}

/** The watch of a mirror's root. The root may be missing, and may come and go. */
export type RootWatch = ReturnType<typeof openRootWatch>

export interface RootWatchOptions {
  /** An event of fs.watch: 'rename' or 'change', and the entry's name. */
  onEvent(event: string, name: string | null): void
  /** The root, or a folder above it, has come, gone or been replaced. */
  onWay(): void
  /** An event of a folder above that does not concern the root. */
  onElsewhere(): void
  onError(error: unknown): void
}

/** Watches a folder, and those above it, because they can be moved or replaced. Waits when the folder is missing. */
export function openRootWatch(path: string, { onEvent, onWay, onElsewhere, onError }: RootWatchOptions) {
  const { promise, resolve } = Promise.withResolvers<void>()
  const way = watchWay(path, onWay, onElsewhere)
  const self = posix.normalize(path.replaceAll('\\', '/'))
  const handle = new Chokidar({
    // The path is passed as `cwd`, because chokidar turns backslashes into slashes in all other paths, also in `ignored`.
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
    else onElsewhere()
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

/** Watches all existing folders above a path, the topmost first: inotify tells no folder that one above it was moved. */
function watchWay(path: string, onWay: () => void, onElsewhere: () => void): FSWatcher[] {
  const above = dirname(path)
  if (above === path) return []
  const handles = watchWay(above, onWay, onElsewhere)
  const handle = watchNow(above, (event, name) => {
    onElsewhere()
    // An event 'change' means that only permissions or times have changed.
    if (event === 'rename' && name === basename(path)) onWay()
  })
  return handle ? [...handles, handle] : handles
}

/** Watches a folder from now on. Null: it is missing, as the watch above shows, or refused, as the root's own shows. */
function watchNow(path: string, onEvent: RootWatchOptions['onEvent']): FSWatcher | null {
  try {
    const handle = watchFolder(path, onEvent)
    handle.on('error', () => handle.close())
    return handle
  } catch {
    return null
  }
}
