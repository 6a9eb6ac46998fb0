import { EventEmitter, once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type MirrorWatcher,
  type MirrorWatcherOptions,
  openMirrorWatcher,
} from '../../../src/daemon/watch/mirror-watcher.ts'
import { StaleFolders } from '../../../src/daemon/watch/stale-folders.ts'
import type { WatchState } from '../../../src/daemon/watch/watching.ts'
import { EventQueue } from '../../../src/local/event-queue.ts'
import type { Scope } from '../../../src/sync/pass-request.ts'
import { openDatabase } from '../../../src/synced/database.ts'
import { openSynced, type Synced } from '../../../src/synced/synced.ts'
import { VirtualClock } from '../virtual-clock.ts'

export interface WatchedMirror {
  root: string
  synced: Synced
  mirror: number
  clock: VirtualClock
  watcher: MirrorWatcher
  said: string[]
  state: () => WatchState
  /** The folders that became stale since the last call. 'everything': the whole mirror did. */
  heard(): string[]
  /** Waits until these folders have become stale after the call. */
  told(...folders: string[]): Promise<void>
  /** Resolves when this folder becomes stale the next time, also where the whole mirror is stale already. */
  next(folder: string): Promise<void>
  close(): Promise<void>
}

/** Tells of each folder at once. `take` tells no folders beside the whole mirror. */
class HeardFolders extends StaleFolders {
  readonly heard = new EventEmitter()

  override add(mirror: string, scope: Scope): void {
    super.add(mirror, scope)
    if (scope !== 'everything') for (const folder of scope) this.heard.emit(folder)
  }
}

/** A mirror with folders that exist, unless they are `missing`, and that a scan has recorded. Files and watches are real; the
 * clock is the test's. */
export function watchMirror(
  root: string,
  folders: string[],
  {
    missing = false,
    ...options
  }: Partial<Pick<MirrorWatcherOptions, 'pollMs' | 'mounts'>> & { missing?: boolean } = {},
): WatchedMirror {
  const synced = openSynced(openDatabase(':memory:'))
  const { id: mirror } = synced.commitNow(tx => tx.mirrors.add(root, 'Photos'))
  if (!missing) mkdirSync(root, { recursive: true })
  for (const folder of folders) {
    synced.commitNow(tx => tx.folders.add(mirror, folder))
    // The disk refuses some names, so they are only recorded.
    if (!missing && folder.length < 256) mkdirSync(join(root, folder), { recursive: true })
  }
  const clock = new VirtualClock()
  const stale = new HeardFolders(clock)
  const said: string[] = []
  let state: WatchState
  const watcher = openMirrorWatcher({
    mirror: root,
    synced,
    stale,
    queue: new EventQueue(),
    clock,
    say: line => said.push(line),
    pollMs: null,
    record: found => {
      state = found
    },
    mounts: () => [],
    ...options,
  })
  const heard = () => {
    const scope = stale.take().get(root) ?? []
    return scope === 'everything' ? ['everything'] : [...scope]
  }
  return {
    root,
    synced,
    mirror,
    clock,
    watcher,
    said,
    state: () => state,
    heard,
    async told(...expected) {
      const missing = new Set(expected)
      while (missing.size > 0) {
        for (const folder of heard()) missing.delete(folder)
        await pause(5)
      }
    },
    async next(folder) {
      await once(stale.heard, folder)
    },
    async close() {
      await watcher.close()
      synced.close()
    },
  }
}
