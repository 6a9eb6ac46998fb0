import type { Config } from '../../config/schema.ts'
import { because, inWords } from '../../words/reasons.ts'
import { clockTime } from '../../words/text.ts'
import type { BacklogStatus, QuotaStatus } from './quota-status.ts'

/** When pictures may be uploaded, in minutes after midnight by this machine's clock. */
export type Hours = NonNullable<Config['uploads']['hours']>

const MINUTE_MS = 60_000
/**
 * How far ahead `nextBorder` looks. The hours open and close once a day. When a change of the clocks skips the minute, the
 * hours open or close on the next day.
 */
const MOST_MINUTES = 2 * 24 * 60

/** Whether pictures may be uploaded. `from` belongs to the hours, `to` does not. `wall`: milliseconds since 1970. */
export function isOpen({ from, to }: Hours, wall: number): boolean {
  const now = new Date(wall)
  const minute = now.getHours() * 60 + now.getMinutes()
  return from < to ? from <= minute && minute < to : from <= minute || minute < to
}

/**
 * When the hours open or close next. Each minute is tried, because a change of the clocks may skip a minute or
 * repeat it.
 */
export function nextBorder(hours: Hours, wall: number): number {
  const open = isOpen(hours, wall)
  let at = Math.floor(wall / MINUTE_MS) * MINUTE_MS
  for (let minutes = 0; minutes < MOST_MINUTES; minutes++) {
    at += MINUTE_MS
    if (isOpen(hours, at) !== open) break
  }
  return at
}

/** When pictures may be uploaded again; null when they may be uploaded now. */
export function uploadsWaitUntil(hours: Hours | undefined, wall: number): number | null {
  return hours === undefined || isOpen(hours, wall) ? null : nextBorder(hours, wall)
}

/**
 * What pictures wait for in a mirror that does nothing, and until when. `until`: ISO 8601; null: nobody can tell.
 * command: no daemon runs, and a command may ask the host. loss: uploads of before a loss of the state may still arrive. reserve: the rest of the quota is
 * kept for new pictures. writers: the pictures may still be written. other: "albumd why" says it.
 */
export interface UploadsWait {
  for: 'command' | 'hours' | 'loss' | 'quota' | 'reserve' | 'writers' | 'other'
  until: string | null
}

/** All as `Status` has it. `mirrors`: those that are meant. `now`: milliseconds since 1970. */
export function whatUploadsWaitFor(
  {
    running,
    uploads_wait_until,
    loss_ends_at,
    quota,
    backlog,
    mirrors,
  }: {
    running: boolean
    uploads_wait_until: string | null
    loss_ends_at: string | null
    quota: Pick<QuotaStatus, 'exhausted' | 'resumes_at' | 'next_probe_at' | 'only_reserve_left'>
    backlog: Pick<BacklogStatus, 'next_day_at'>
    mirrors: readonly { pending_uploads: number; unfinished: number }[]
  },
  now: number,
): UploadsWait {
  const usedUp = quota.exhausted
    ? { for: 'quota' as const, until: quota.resumes_at ?? quota.next_probe_at }
    : null
  // No command sends anything before the host may be asked again.
  const isEarly = quota.next_probe_at === null || now < Date.parse(quota.next_probe_at)
  if (!running) return usedUp && isEarly ? usedUp : { for: 'command', until: null }
  if (uploads_wait_until !== null) return { for: 'hours', until: uploads_wait_until }
  if (loss_ends_at !== null) return { for: 'loss', until: loss_ends_at }
  if (usedUp) return usedUp
  if (quota.only_reserve_left) return { for: 'reserve', until: backlog.next_day_at }
  const areUnfinished = mirrors.every(({ pending_uploads, unfinished }) => unfinished >= pending_uploads)
  return { for: areUnfinished ? 'writers' : 'other', until: null }
}

type Waiting = Parameters<typeof whatUploadsWaitFor>[0]

/** What the pictures of an idle mirror wait for, for a person. */
export function waitInWords(status: Waiting, mirror: Waiting['mirrors'][number], now: number): string {
  const { unfinished } = mirror
  const wait = whatUploadsWaitFor({ ...status, mirrors: [mirror] }, now)
  const { loss_ends_at: lossEnds } = status
  const loss = lossEnds && inWords(because('sent_before_loss', { until: Date.parse(lossEnds) }))
  const written = `${inWords(because('may_be_written', { pictures: unfinished }))}; "albumd why FILE" says until when, and what happens then`
  const more = loss ?? (unfinished > 0 ? written : null)
  switch (wait.for) {
    case 'command':
      return `waiting for "albumd sync" or "albumd run"${more === null ? '' : `: ${more}`}`
    case 'hours':
      return `waiting until ${clockTime(wait.until!)} (uploads.hours)`
    case 'loss':
      return `waiting: ${more}`
    case 'quota':
      return 'waiting for quota'
    case 'reserve':
      return `waiting for quota: ${inWords(because('rest_is_reserve'))}`
    case 'writers':
      return `waiting: ${written}`
    case 'other':
      return 'waiting; "albumd why FILE" says for what'
  }
}
