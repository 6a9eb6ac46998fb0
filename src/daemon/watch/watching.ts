import type { WatchLoss } from '../../local/folder-watcher.ts'
import type { Millis } from '../../protocol/clock.ts'
import type { MetaReads, Synced } from '../../synced/synced.ts'
import { factOf, remedyOf } from '../../words/reasons.ts'
import { isoTime } from '../../words/text.ts'

/** How all mirrors are watched, in `status --json`. */
export interface Watching {
  /** Folders with a watch. */
  folders: number
  /** How many folders can't be watched. They are polled every minute. */
  lost: number
  /** Whether something is polled for another reason than a failed watch: `watch.poll`, or a file system that makes no events. */
  polled: boolean
  /** The folders that are polled for such a reason. */
  polled_folders: string[]
  /** Why folders can't be watched. */
  reason: string | null
  remedy: string | null
  /** When the kernel's queue of events last overflowed, after which everything was scanned again. */
  overflowed_at: string | null
}

export interface WatchState extends Pick<Watching, 'folders' | 'lost'> {
  polled: string[]
  loss: WatchLoss | null
  overflowedAt: Millis | null
}

export function watchRecord({ commit }: Synced): (mirror: string, state: WatchState) => void {
  const states = new Map<string, WatchState>()
  let written = ''
  return (mirror, state) => {
    states.set(mirror, state)
    const text = JSON.stringify(sumOf([...states.values()]))
    if (text === written) return
    written = text
    // An error needs no report here, because the next pass fails with the same error and reports it.
    commit(tx => tx.meta.set('watching', text)).catch(() => {})
  }
}

/** How the mirrors are watched. Null: nothing is watched. `running`: whether a process works with this state. */
export function readWatching({ meta }: MetaReads, running: boolean): Watching | null {
  const text = meta.get('watching')
  if (!running || text === null) return null
  const { loss, ...sum } = JSON.parse(text) as ReturnType<typeof sumOf>
  return { ...sum, reason: loss && factOf(loss.message), remedy: loss && remedyOf(loss.message) }
}

function sumOf(states: WatchState[]) {
  const overflows = states.flatMap(({ overflowedAt }) => overflowedAt ?? [])
  return {
    folders: states.reduce((sum, { folders }) => sum + folders, 0),
    lost: states.reduce((sum, { lost }) => sum + lost, 0),
    polled: states.some(({ polled }) => polled.length > 0),
    polled_folders: states.flatMap(({ polled }) => polled).sort(),
    loss: states.find(({ loss }) => loss !== null)?.loss ?? null,
    overflowed_at: overflows.length === 0 ? null : isoTime(Math.max(...overflows)),
  }
}
