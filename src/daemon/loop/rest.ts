import type { Config } from '../../config/schema.ts'
import { type Clock, lostAt, mayArriveFor } from '../../sync/clock.ts'
import type { PassReport } from '../../sync/pass-request.ts'
import type { Synced } from '../../synced/synced.ts'
import { isOpen, nextBorder } from '../report/upload-hours.ts'
import { pauseAt } from '../state/pause.ts'

/** How often the clocks are read while resting, because timers stand still while the machine sleeps. */
export const SLICE_MS = 60_000
/** Sleeps until the wall clock shows `wall`. When the machine slept meanwhile, it wakes up to SLICE_MS too late. */
export async function sleepUntil(wall: number, clock: Clock, stop: AbortSignal): Promise<void> {
  while (!stop.aborted && clock.wall() < wall)
    await clock.sleep(Math.min(wall - clock.wall(), SLICE_MS), stop)
}

export interface DueOptions {
  config: { mirrors: Pick<Config['mirrors'][number], 'folder'>[]; uploads: Pick<Config['uploads'], 'hours'> }
  synced: Synced
  clock: Clock
  /** Running time in milliseconds. */
  running: () => number
  /** How long a credential may be used (§8), in milliseconds. */
  credentialLifetimeMs: number
}

/** How often pending uploads and guarded mirrors are tried again. */
const RETRY_MS = 60_000

/** How long the loop may rest without an event after a pass that took `tookMs`, in milliseconds. */
export function restMs(options: DueOptions, { stopped }: PassReport, tookMs: number): number {
  const { config, synced, clock } = options
  const { hours } = config.uploads
  const uploadsGo = hours === undefined || isOpen(hours, clock.wall())
  const waiting = config.mirrors.some(({ folder }) => {
    const row = synced.mirrors.of(folder)
    return row !== undefined && (row.guard !== null || (uploadsGo && synced.files.anyPending([row.id])))
  })
  const border = hours === undefined ? [] : [nextBorder(hours, clock.wall()) - clock.wall()]
  return Math.min(dueMs(options, tookMs), ...border, ...(waiting || stopped.length > 0 ? [RETRY_MS] : []))
}

/**
 * In how many milliseconds something is due that uploads must pause for, such as a deletion whose grace ends. Infinity:
 * nothing. What came due within the last `freshMs` is due at once, because it came due during the last pass.
 */
export function dueMs(
  { config, synced, clock, running, credentialLifetimeMs }: DueOptions,
  freshMs = 0,
): number {
  const longAgo = mayArriveFor(credentialLifetimeMs) + 1
  const inDoubt = synced.journal.oldestInDoubt()
  const unused = synced.unusedAlbums.oldest()
  const lost = lostAt(synced)
  const mirrors = config.mirrors.flatMap(({ folder }) => synced.mirrors.of(folder)?.id ?? [])
  const due = [
    { at: synced.escrow.nextDue(mirrors), now: running() },
    { at: synced.failures.nextDue(), now: clock.wall() },
    { at: pauseAt(synced, clock.wall())?.until ?? null, now: clock.wall() },
    // From then on no upload in doubt can arrive any more, so recovery can find out about it.
    { at: inDoubt === null ? null : inDoubt + longAgo, now: clock.monotonic() },
    // From then on no upload can arrive that only the lost records knew of, so uploads go on.
    { at: lost === null ? null : lost + longAgo, now: clock.monotonic() },
    // From then on no upload can arrive in an album that was empty, so it may be deleted.
    { at: unused === null ? null : unused + longAgo, now: clock.monotonic() },
  ]
  // What has been due for long could not be done by the last pass. It waits, or the loop would never rest.
  const waitMs = (at: number, now: number) => (at > now ? at - now : now - at < freshMs ? 0 : RETRY_MS)
  return Math.min(...due.flatMap(({ at, now }) => (at === null ? [] : [waitMs(at, now)])))
}
