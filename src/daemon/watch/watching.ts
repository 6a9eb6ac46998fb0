import type { WatchLoss } from '../../local/folder-watcher.ts'
import type { Synced } from '../../synced/synced.ts'
import { inWords } from '../../words/reasons.ts'

/** How one mirror is watched. */
export interface WatchState {
  /** Folders with a watch. */
  folders: number
  /** Folders that can't be watched. They are polled. */
  lost: number
  /** Whether some folders are polled although they may be watched. */
  polled: boolean
  /** Why folders can't be watched. */
  loss: WatchLoss | null
  /** When the kernel's queue of events last overflowed, in milliseconds since 1970. */
  overflowedAt: number | null
}

/** How all mirrors are watched, in `status --json`. */
export interface Watching {
  /** Folders with a watch. */
  folders: number
  /** Folders that can't be watched; they are polled every minute. */
  lost: number
  /** Whether mirrors, or parts of them, are polled. */
  polled: boolean
  /** Why folders can't be watched. */
  reason: string | null
  remedy: string | null
  /** When the kernel's queue of events last overflowed. Everything was scanned again. */
  overflowed_at: string | null
}

/** Records how the mirrors are watched, for `status`. */
export class WatchRecord {
  readonly #synced: Synced
  readonly #states = new Map<string, WatchState>()
  #written: string | null = null

  constructor(synced: Synced) {
    this.#synced = synced
  }

  set(mirror: string, state: WatchState): void {
    this.#states.set(mirror, state)
    const text = JSON.stringify(sumOf([...this.#states.values()]))
    if (text === this.#written) return
    this.#written = text
    // An error is left to the next pass, which fails with it too and tells it.
    this.#synced.commit(tx => tx.meta.set('watching', text)).catch(() => {})
  }
}

/** Null where nothing is watched. `running`: whether a process works with this state. */
export function readWatching({ meta }: Pick<Synced, 'meta'>, running: boolean): Watching | null {
  const text = meta.get('watching')
  if (!running || text === null) return null
  const { reason, remedy, ...counts } = JSON.parse(text) as ReturnType<typeof sumOf>
  return { ...counts, reason: reason && inWords(reason), remedy: remedy && inWords(remedy) }
}

function sumOf(states: WatchState[]) {
  const losses = states.flatMap(({ loss }) => loss ?? [])
  const overflows = states.flatMap(({ overflowedAt }) => overflowedAt ?? [])
  return {
    folders: states.reduce((sum, { folders }) => sum + folders, 0),
    lost: states.reduce((sum, { lost }) => sum + lost, 0),
    polled: states.some(({ polled }) => polled),
    reason: losses[0]?.message ?? null,
    remedy: losses[0]?.remedy ?? null,
    overflowed_at: overflows.length === 0 ? null : new Date(Math.max(...overflows)).toISOString(),
  }
}
