import type { Config } from '../config/schema.ts'
import type { Clock } from '../sync/clock.ts'
import type { Interruption } from '../sync/interruption.ts'
import type { PassReport } from '../sync/pass.ts'
import type { Synced } from '../synced/synced.ts'
import { openMirrorWatcher } from './mirror-watcher.ts'
import type { Mirroring } from './mirroring.ts'
import { StaleFolders } from './stale-folders.ts'

export interface DaemonParts {
  config: Config
  synced: Synced
  mirroring: Mirroring
  clock: Clock
  /** Running time in milliseconds. */
  running: () => number
  /** A pass has come to its end. */
  onPass: (report: PassReport) => void
  /** Something that a person should know. */
  say: (line: string) => void
}

/** Events come in bursts: a look waits until they pause. */
const QUIET_MS = 200
/** How often what is left, and a root in doubt, is tried again. */
const RETRY_MS = 60_000
/** How often everything is looked at, whatever the watcher said. */
const RESCAN_MS = 6 * 3_600_000

/** Keeps the mirrors mirrored until interrupted: all of them first, then every folder that is said to be stale. */
export async function runDaemon(parts: DaemonParts, interruption: Interruption): Promise<void> {
  const { config, synced, mirroring, clock } = parts
  const stale = new StaleFolders()
  const lookAtEverything = () => {
    for (const { folder } of config.mirrors) stale.add(folder, { everything: true })
    return clock.monotonic() + RESCAN_MS
  }
  const watchers = config.mirrors.map(({ folder }) => openMirrorWatcher(folder, stale, parts.say))
  try {
    let rescanAt = lookAtEverything()
    while (!interruption.stop.aborted) {
      const scopes = stale.take()
      const report = await mirroring.pass(interruption, ({ folder }) =>
        synced.mirrors.of(folder)?.guard ? 'everything' : (scopes.get(folder) ?? []),
      )
      for (const watcher of watchers) await watcher.follow(synced)
      parts.onPass(report)
      await stale.wait(waitMs(parts, report), QUIET_MS, clock, interruption.stop)
      if (clock.monotonic() >= rescanAt) rescanAt = lookAtEverything()
    }
  } finally {
    for (const watcher of watchers) await watcher.close()
  }
}

/** How long the loop may sleep where no event comes. */
function waitMs({ config, synced, clock, running }: DaemonParts, report: PassReport): number {
  const now = clock.wall()
  // What is due and can't be done must not turn the loop without end.
  const due = [
    { at: synced.escrow.nextDue(), now: running() },
    { at: synced.failures.nextDue(), now },
  ].flatMap(({ at, now }) => (at === null ? [] : [at > now ? at - now : RETRY_MS]))
  const waiting = config.mirrors.some(({ folder }) => {
    const row = synced.mirrors.of(folder)
    return row !== undefined && (row.guard !== null || synced.files.pendingTotal([row.id]).pictures > 0)
  })
  if (waiting || report.stopped.length > 0) due.push(RETRY_MS)
  return Math.min(RESCAN_MS, ...due)
}
