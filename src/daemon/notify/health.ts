import { FAILURES_SHOWN, type Status } from '../report/status.ts'

/** Something that needs a person. */
export interface Alert {
  /** Identifies the alert. As long as there is an alert with the same key, it is the same alert. */
  key: string
  /** STATE, STUCK, GUARDED, HELD, DELETED_MORE, TOO_OLD, FAILED, WATCH_LOST, or the host's error code. */
  code: string
  /** One line. */
  message: string
}

export interface Health {
  /** The gravest first. */
  alerts: Alert[]
  /** How long the oldest pending picture has waited, in milliseconds. */
  oldestUnsyncedMs: number
}

/**
 * Reading a folder of a million pictures takes hours on a slow disk, so a shorter silence does not mean that a disk
 * hangs.
 */
const STUCK_MS = 6 * 3_600_000

type Known = Pick<Status, 'mirrors' | 'blocks' | 'failures'> & {
  watching?: Watching | null
  deleted_more?: Status['deleted_more']
}
type Watching = { lost: number; reason: string | null; remedy: string | null }
type WaitingCount = 'pending_uploads' | 'pending_deletions' | 'uncertain'

/** `now`: milliseconds since 1970. `quietMs`: for how long albumd has given no sign of life. */
export function healthOf(status: Known, maxAgeMs: number, now: number, quietMs: number): Health {
  const oldest = status.mirrors.flatMap(({ oldest_unsynced }) => oldest_unsynced ?? []).map(Date.parse)
  const oldestUnsyncedMs = oldest.length > 0 ? Math.max(0, now - Math.min(...oldest)) : 0
  const alerts = [
    ...stuck(quietMs),
    ...guarded(status),
    ...blocked(status),
    ...held(status),
    ...deletedMore(status),
    ...tooOld(oldestUnsyncedMs, maxAgeMs),
    ...failed(status),
    ...watchLost(status),
  ]
  return { alerts, oldestUnsyncedMs }
}

function stuck(quietMs: number): Alert[] {
  if (quietMs <= STUCK_MS) return []
  const message = `albumd has given no sign of life for ${inHours(quietMs)}: a disk or a network mount may hang`
  return [{ key: 'STUCK', code: 'STUCK', message }]
}

function guarded({ mirrors }: Known): Alert[] {
  return mirrors
    .filter(({ state }) => state === 'guarded')
    .map(({ folder, reason }) => ({
      key: `GUARDED ${folder}`,
      code: 'GUARDED',
      message: `${folder} is guarded: ${reason}`,
    }))
}

/** An endpoint outside the plan is no alert while nothing waits for it. */
function blocked({ mirrors, blocks }: Known): Alert[] {
  const waits = (what: WaitingCount) => mirrors.some(mirror => mirror[what] > 0)
  const needed = (endpoint: string) =>
    waits(endpoint === 'delete' ? 'pending_deletions' : endpoint === 'list' ? 'uncertain' : 'pending_uploads')
  return blocks
    .filter(({ code, endpoint }) => code !== 'PLAN_NOT_SUPPORTED' || needed(endpoint))
    .map(({ endpoint, code, message }) => ({
      key: `BLOCKED ${endpoint} ${code}`,
      code,
      message: `the host refuses ${endpoint}: ${message}`,
    }))
}

function held({ mirrors }: Known): Alert[] {
  return mirrors
    .filter(({ held_deletions }) => held_deletions > 0)
    .map(({ folder, held_deletions }) => ({
      key: `HELD ${folder}`,
      code: 'HELD',
      message: `${folder}: ${held_deletions} held deletions wait for your decision; see "albumd deletions list"`,
    }))
}

function deletedMore({ deleted_more }: Known): Alert[] {
  return deleted_more
    ? [{ key: `DELETED_MORE ${deleted_more.at}`, code: 'DELETED_MORE', message: deleted_more.message }]
    : []
}

function tooOld(oldestMs: number, maxAgeMs: number): Alert[] {
  if (oldestMs <= maxAgeMs) return []
  const message = `a picture has waited for ${inHours(oldestMs)} to be on the host; "albumd status" says why`
  return [{ key: 'TOO_OLD', code: 'TOO_OLD', message }]
}

/** A failure that albumd tries again by itself is no alert of its own. It may become TOO_OLD. */
function failed({ failures }: Known): Alert[] {
  const [first, ...others] = failures.filter(({ next_attempt_at }) => next_attempt_at === null)
  if (!first) return []
  const least = failures.length === FAILURES_SHOWN ? 'at least ' : ''
  const more = others.length > 0 ? ` (and ${least}${others.length} more)` : ''
  return [
    { key: 'FAILED', code: 'FAILED', message: `${first.path || first.mirror}: ${first.message}${more}` },
  ]
}

function watchLost({ watching }: Known): Alert[] {
  if (!watching || watching.lost === 0) return []
  const { lost, reason, remedy } = watching
  const why = [reason, remedy].filter(text => text !== null).join('; ')
  return [{ key: 'WATCH_LOST', code: 'WATCH_LOST', message: `${lost} folders can't be watched: ${why}` }]
}

function inHours(ms: number): string {
  const hours = Math.floor(ms / 3_600_000)
  return hours < 1 ? 'less than an hour' : hours === 1 ? 'an hour' : `${hours} hours`
}

/** What keeps the daemon from its state. */
export function stateProblem(line: string): () => Health {
  return () => ({ alerts: [{ key: 'STATE', code: 'STATE', message: line }], oldestUnsyncedMs: 0 })
}
