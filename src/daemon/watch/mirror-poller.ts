import type { Clock } from '../../sync/clock.ts'
import type { StaleFolders } from './stale-folders.ts'

/** Asks for a look at folders so often, for nothing tells of what happens there. */
export interface MirrorPoller {
  /** Until the end. */
  run(end: AbortSignal): Promise<void>
  /** A scan of the mirror has ended. */
  scanned(): void
}

export interface MirrorPollerParts {
  mirror: string
  stale: StaleFolders
  clock: Clock
  /** Milliseconds between two looks. Null: as few as are cheap. */
  pollMs: number | null
  /** What to look at, at the moment; '' is everything. */
  folders: () => string[]
}

/** How often at most, where nobody has said it. */
const POLL_MS = 60_000
/** Then a look may take this part of the time at most. */
const SHARE = 1 / 10

/** The pauses are counted from the end of each look: a slow one is not followed by the next at once. */
export function openMirrorPoller({ mirror, stale, clock, pollMs, folders }: MirrorPollerParts): MirrorPoller {
  let scanned = () => {}

  /** How long the look took, in milliseconds. */
  async function look(due: string[], end: AbortSignal): Promise<number> {
    const began = clock.monotonic()
    const done = new AbortController()
    scanned = () => done.abort()
    if (due.includes('')) stale.add(mirror, { everything: true })
    else for (const folder of due) stale.add(mirror, folder)
    // A root in doubt is never told to be scanned.
    await clock.sleep(Math.max(POLL_MS, pollMs ?? 0), AbortSignal.any([done.signal, end]))
    scanned = () => {}
    return clock.monotonic() - began
  }

  return {
    async run(end) {
      for (let pauseMs = pollMs ?? POLL_MS; ; ) {
        await clock.sleep(pauseMs, end)
        if (end.aborted) return
        const due = folders()
        const tookMs = due.length === 0 ? 0 : await look(due, end)
        pauseMs = pollMs ?? Math.max(POLL_MS, tookMs / SHARE)
      }
    },
    scanned: () => scanned(),
  }
}
