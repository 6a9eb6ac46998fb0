import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../sync/clock.ts'
import { mayArriveFor } from '../../sync/credential-life.ts'
import { lostAt } from '../../sync/lost-records.ts'
import type { PassReport } from '../../sync/pass-request.ts'
import type { Synced } from '../../synced/synced.ts'
import { isOpen, nextBorder } from './hours.ts'
import { pauseAt } from './pause.ts'

export interface DueParts {
  config: { mirrors: Pick<Config['mirrors'][number], 'folder'>[]; uploads: Pick<Config['uploads'], 'hours'> }
  synced: Synced
  clock: Clock
  /** Running time in milliseconds. */
  running: () => number
  /** How long a credential may be used (§8), in milliseconds. */
  credentialLifetimeMs: number
}

/** How often what is left, and a root in doubt, is tried again. */
const RETRY_MS = 60_000

/** How long the loop may rest, in milliseconds, after a pass that took `tookMs`, where no event comes. */
export function restMs(parts: DueParts, { stopped }: PassReport, tookMs: number): number {
  const { config, synced, clock } = parts
  const { hours } = config.uploads
  const uploadsGo = hours === undefined || isOpen(hours, clock.wall())
  const waiting = config.mirrors.some(({ folder }) => {
    const row = synced.mirrors.of(folder)
    return row !== undefined && (row.guard !== null || (uploadsGo && synced.files.anyPending([row.id])))
  })
  const border = hours === undefined ? [] : [nextBorder(hours, clock.wall()) - clock.wall()]
  return Math.min(dueMs(parts, tookMs), ...border, ...(waiting || stopped.length > 0 ? [RETRY_MS] : []))
}

/**
 * In how many milliseconds the next thing is due that uploads must pause for; infinite where there is none. What came due
 * within the last `freshMs` is due at once.
 */
export function dueMs(
  { config, synced, clock, running, credentialLifetimeMs }: DueParts,
  freshMs = 0,
): number {
  const longAgo = mayArriveFor(credentialLifetimeMs) + 1
  const inDoubt = synced.journal.oldestInDoubt()
  const emptied = synced.emptied.oldest()
  const lost = lostAt(synced)
  const mirrors = config.mirrors.flatMap(({ folder }) => synced.mirrors.of(folder)?.id ?? [])
  const due = [
    { at: synced.escrow.nextDue(mirrors), now: running() },
    { at: synced.failures.nextDue(), now: clock.wall() },
    { at: pauseAt(synced, clock.wall())?.until ?? null, now: clock.wall() },
    // What can't arrive any more can be found out.
    { at: inDoubt === null ? null : inDoubt + longAgo, now: clock.monotonic() },
    // What lost records knew to be under way has arrived by then: uploads go on.
    { at: lost === null ? null : lost + longAgo, now: clock.monotonic() },
    // An album that was empty is looked at once more.
    { at: emptied === null ? null : emptied + longAgo, now: clock.monotonic() },
  ]
  // What is due and can't be done must not turn the loop without end.
  const waitMs = (at: number, now: number) => (at > now ? at - now : now - at < freshMs ? 0 : RETRY_MS)
  return Math.min(...due.flatMap(({ at, now }) => (at === null ? [] : [waitMs(at, now)])))
}
