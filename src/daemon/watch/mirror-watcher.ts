import { setImmediate as turn } from 'node:timers/promises'
import { realPathOf } from '../../config/paths.ts'
import type { EventQueue } from '../../local/event-queue.ts'
import { FolderWatcher, OVERFLOW, type WatchLoss } from '../../local/folder-watcher.ts'
import { type Mount, mayChangeUnseen, mountsOf, readMounts } from '../../local/mount-table.ts'
import type { Clock } from '../../protocol/clock.ts'
import type { Scope } from '../../sync/pass-request.ts'
import { folderAbove, fullPath, isAtOrBelow, isBelow } from '../../sync/tree-path.ts'
import type { Synced } from '../../synced/synced.ts'
import { inWords } from '../../words/reasons.ts'
import { Bell } from '../bell.ts'
import type { StaleFolders } from './stale-folders.ts'
import type { WatchState } from './watching.ts'

/** Watches each folder of a mirror, at first those that are recorded. A root in doubt is not scanned, but its return must be
 * noticed. */
export type MirrorWatcher = ReturnType<typeof openMirrorWatcher>

export interface MirrorWatcherOptions {
  mirror: string
  synced: Synced
  stale: StaleFolders
  queue: EventQueue
  clock: Clock
  say: (line: string) => void
  /** How often the mirror is scanned instead of being watched. Null: it is watched. */
  pollMs: number | null
  record: (state: WatchState) => void
  /** The list of mounts, which is the same array while nothing has changed. By default, the system's list. */
  mounts?: () => readonly Mount[]
}

const LOST_MS = 60_000
/** How often the list of mounts is read, because no event shows a mount. A read costs half a millisecond of an idle processor. */
const MOUNTS_MS = 20_000
/** The time between two scans of polled folders, where `watch.poll` does not set it. */
const POLL_MS = 60_000
/** Without `watch.poll`, the scans of polled folders take at most this part of the time. */
const POLL_SHARE = 1 / 10

export function openMirrorWatcher(options: MirrorWatcherOptions) {
  const { mirror, synced, stale, queue, clock, say, pollMs, record, mounts = readMounts } = options
  const ended = new AbortController()
  const end = ended.signal
  const named = new Set<string>()
  const told = new Set<string>()
  let loss: WatchLoss | null = null
  let overflowedAt: number | null = null
  let isFollowing = false
  let following = Promise.resolve()

  const watcher = new FolderWatcher(mirror, {
    queue,
    onStale: folder => stale.add(mirror, [folder]),
    onLost(lost) {
      if (lost === OVERFLOW) {
        overflowedAt = clock.wall()
        stale.add(mirror, 'everything')
        tellState()
      } else loss = lost
      const line = inWords(lost.message)
      if (!told.has(line)) say(line)
      if (lost !== OVERFLOW) told.add(line)
    },
    beforeOpening: lookAtMounts,
  })
  const area = openMirrorMounts(mirror, mounts, say)
  const scanned = new Bell()

  /** Makes the polled folders be scanned again and again, because no event shows changes there. */
  async function poll(): Promise<void> {
    // Each pause begins when a scan has ended, so that a slow scan is not followed by the next one at once.
    for (let pauseMs = pollMs ?? POLL_MS; ; ) {
      await clock.sleep(pauseMs, end)
      if (end.aborted) return
      const began = clock.monotonic()
      const due = foldersToPoll()
      if (due.length > 0) {
        scanned.heard()
        stale.add(mirror, due)
        // Waits for the scan, but not for ever: a root in doubt is not scanned, so `scanned` never rings.
        await scanned.sleep(Math.max(POLL_MS, pollMs ?? 0), clock, end)
      }
      pauseMs = pollMs ?? Math.max(POLL_MS, (clock.monotonic() - began) / POLL_SHARE)
    }
  }

  function foldersToPoll(): Scope {
    if (pollMs !== null || area.unseen().includes('')) return 'everything'
    const unseen = [...named].filter(path => area.unseen().some(top => isAtOrBelow(path, top)))
    return [...new Set([...unseen, ...watcher.lost()])]
  }

  async function followNow(): Promise<void> {
    // Lets uploads of what the scan has found begin first.
    await turn()
    isFollowing = false
    if (end.aborted) return
    if (pollMs === null) await watchOnly(foldersToWatch(synced, mirror))
    tellState()
  }

  async function watchOnly(present: ReadonlySet<string>): Promise<void> {
    const gone = [...named].filter(path => !present.has(path))
    const found = [...present].filter(path => !named.has(path))
    watcher.unwatch(gone)
    for (const path of gone) named.delete(path)
    for (const path of found) named.add(path)
    await watcher.watch(found)
    // A change between scan and watch made no event, so these folders are scanned again. The root was watched before its scan.
    stale.add(
      mirror,
      found.filter(path => path !== ''),
    )
  }

  /** Tries again to watch the folders that could not be watched. A folder that still can't be watched is polled. */
  async function lookAfterLost(): Promise<void> {
    const before = watcher.lost()
    if (before.length === 0) return told.clear()
    await watcher.watch(before)
    const lost = new Set(watcher.lost())
    stale.add(
      mirror,
      before.filter(path => !lost.has(path)),
    )
    if (lost.size === 0) {
      say(`All folders of ${mirror} are watched again.`)
      told.clear()
    }
    tellState()
  }

  /** Renews the watches where something was mounted. The watches of inotify stay at the folder below the mount. */
  function lookAtMounts(): void {
    const changed = area.changed()
    if (changed.length === 0) return
    watcher.renew(changed)
    stale.add(mirror, changed.includes('') ? 'everything' : [...changed, ...changed.map(folderAbove)])
    tellState()
  }

  function tellState(): void {
    if (end.aborted) return
    const lost = watcher.lost().length
    const polled = (pollMs === null ? area.unseen() : ['']).map(folder => fullPath(mirror, folder))
    record({ folders: named.size - lost, lost, polled, loss: lost === 0 ? null : loss, overflowedAt })
  }

  async function every(ms: number, work: () => void | Promise<void>): Promise<void> {
    for (;;) {
      await clock.sleep(ms, end)
      if (end.aborted) return
      await work()
    }
  }

  function follow(): void {
    // `followNow` waits already, and will read what this scan recorded.
    if (isFollowing) return
    isFollowing = true
    // An error of the state needs no report: the next pass fails with the same error and reports it.
    following = following.then(followNow).catch(() => {})
  }

  tellState()
  const loops = [every(MOUNTS_MS, lookAtMounts), every(LOST_MS, lookAfterLost), poll()]
  // The root's watch begins in this turn of the event loop, and so before the first scan.
  const root = pollMs === null ? watchOnly(new Set([''])) : Promise.resolve()
  const begun = followNow().catch(() => {})
  following = Promise.all([root, begun]).then(() => {})

  return {
    /** Resolves when the recorded folders are watched. A scan after that misses no change in them. */
    begun,
    /** Watches the root and the folders of the last scan. Those with new watches are scanned again, those without are polled. */
    follow() {
      scanned.ring()
      follow()
    },
    /** Makes all folders be scanned and watched anew, because nobody knows what happened in them. */
    distrust() {
      watcher.renew([''])
      stale.add(mirror, 'everything')
    },
    async close() {
      ended.abort()
      await watcher.close()
      await Promise.all([following, ...loops])
    },
  }
}

/** The folders to watch: always the root, and all that are not in doubt. Each pass looks at those in doubt: see `scopeAfter`. */
function foldersToWatch(synced: Synced, mirror: string): Set<string> {
  const row = synced.mirrors.of(mirror)
  if (!row) return new Set([''])
  const doubts = synced.folders.unknown(row.id)
  const isBelowDoubt = (path: string) => doubts.some(doubt => isBelow(path, doubt.path))
  const there = ['', ...synced.folders.certain(row.id)]
  return new Set(there.filter(path => doubts.length === 0 || !isBelowDoubt(path)))
}

function openMirrorMounts(mirror: string, mounts: () => readonly Mount[], say: (line: string) => void) {
  const said = new Set<string>()
  let unseen: string[] = []
  let root = ''
  let all: readonly Mount[] = []
  let known = new Map<string, string>()
  read()

  function read(): void {
    // The kernel lists real paths. A link's target may be missing until its disk is mounted, so it is resolved each time.
    const at = realPathOf(mirror)
    const now = mounts()
    if (at === root && now === all) return
    root = at
    all = now
    const folderOf = ({ path }: Mount) => (path.startsWith(`${root}/`) ? path.slice(root.length + 1) : '')
    const mine = mountsOf(all, root)
    const others = mine.filter(mount => mayChangeUnseen(mount, all))
    unseen = others.map(folderOf)
    for (const mount of others) {
      const at = folderOf(mount) === '' ? mirror : mount.path
      const line =
        `${at} is on a file system (${mount.type}) that may change without telling, on another machine or beneath. ` +
        'So albumd scans all of it every minute, or less often where a scan takes long; watch.poll sets how often.'
      if (!said.has(line)) say(line)
      said.add(line)
    }
    known = new Map(mine.map(mount => [folderOf(mount), mount.id]))
  }

  return {
    /** Folders that may change without an event. '' is the root. */
    unseen: () => unseen,
    /** Folders where something was mounted or unmounted since the last call. '': the root itself is another folder. */
    changed(): string[] {
      const before = known
      read()
      if (known === before) return []
      const folders = new Set([...before.keys(), ...known.keys()])
      return [...folders].filter(folder => before.get(folder) !== known.get(folder))
    },
  }
}
