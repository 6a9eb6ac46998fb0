import { type KeySource, keyRemedy } from '../../config/host-access.ts'
import type { Config } from '../../config/schema.ts'
import { fullPath } from '../../sync/tree-path.ts'
import { because, blockInWords, hostRefusesKey, inWords } from '../../words/reasons.ts'
import { capital } from '../../words/text.ts'
import { FAILURES_SHOWN } from '../report/failures.ts'
import type { Status } from '../report/status.ts'

/** Something that a person is told. */
export interface Alert {
  /** Identifies the alert. Two alerts with the same key are the same alert. */
  key: string
  /**
   * STATE, STORE_AWAY, STORE_NEW, STUCK, CONFIG, KEY, GUARDED, HELD, DELETED_MORE, GONE_ON_HOST, TOO_OLD, FAILED,
   * WATCH_LOST, or the host's error code.
   */
  code: string
  /** One line. */
  message: string
}

/** Alerts that end by themselves. They tell that something takes long. */
const PASSING: ReadonlySet<string> = new Set(['TOO_OLD', 'STORE_NEW'])

/** Whether a person must end the alert. */
export function isForPerson({ code }: Pick<Alert, 'code'>): boolean {
  return !PASSING.has(code)
}

export interface Health {
  /** The alerts, the gravest one first. */
  alerts: Alert[]
  /** How long the oldest pending picture has waited, in milliseconds. */
  oldestUnsyncedMs: number
}

/**
 * Reading a folder of a million pictures takes hours on a slow disk, so a shorter silence does not mean that a disk
 * hangs.
 */
const STUCK_MS = 6 * 3_600_000

type Known = Pick<Status, 'mirrors' | 'blocks' | 'failures'> &
  Partial<Pick<Status, 'watching' | 'deleted_more' | 'config_refused' | 'config_needs_stop' | 'key_refused'>>
type WaitingCount = 'pending_uploads' | 'pending_deletions' | 'uncertain'

/** The part of a config that decides what is an alert and what it says. */
type HealthConfig = KeySource & { notify: Pick<Config['notify'], 'max_age'> }

/**
 * To be asked in the daemon's process, because a key may come from its environment. `now`: milliseconds since 1970.
 * `quietMs`: for how long albumd has given no sign of life.
 */
export function healthOf(status: Known, config: HealthConfig, now: number, quietMs: number): Health {
  const { mirrors, watching, deleted_more, config_refused, config_needs_stop, key_refused } = status
  const oldest = mirrors.flatMap(({ oldest_unsynced }) => oldest_unsynced ?? []).map(Date.parse)
  const oldestUnsyncedMs = oldest.length > 0 ? Math.max(0, now - Math.min(...oldest)) : 0
  const alerts: Alert[] = []
  const alert = (code: string, message: string, key = code) => alerts.push({ key, code, message })
  if (quietMs > STUCK_MS)
    alert(
      'STUCK',
      `albumd has given no sign of life for ${inHours(quietMs)}. Look for a disk or a network mount that hangs`,
    )
  if (config_refused)
    alert(
      'CONFIG',
      `The new config was refused, so the one from before stays (${config_refused})${config_needs_stop ? '' : '. Mend it, then reload albumd'}`,
      `CONFIG ${config_refused}`,
    )
  if (key_refused)
    alert('KEY', `The key can't be read any more, so the next start fails (${key_refused}). Mend its file`)
  for (const { folder, reason } of mirrors.filter(
    ({ state, needs_person }) => state === 'guarded' && needs_person,
  ))
    alert('GUARDED', reason ?? folder, `GUARDED ${folder}`)
  for (const block of blocksInTheWay(status))
    alert(block.code, refusedInWords(block, config), `BLOCKED ${block.endpoint} ${block.code}`)
  for (const { folder, held_deletions: held } of mirrors)
    if (held > 0)
      alert(
        'HELD',
        `${folder}: ${inWords(because('deletions_wait', { deletions: held }))}. "albumd deletions list" shows them`,
        `HELD ${folder}`,
      )
  if (deleted_more) alert('DELETED_MORE', deleted_more.message, `DELETED_MORE ${deleted_more.at}`)
  const gone = mirrors.reduce((sum, { gone_on_host }) => sum + gone_on_host, 0)
  const first = mirrors.find(({ first_gone_on_host }) => first_gone_on_host !== null)
  if (gone > 0) {
    const path = first ? fullPath(first.folder, first.first_gone_on_host!) : null
    alert('GONE_ON_HOST', inWords(because('gone_on_host', { pictures: gone, path })))
  }
  if (oldestUnsyncedMs > config.notify.max_age)
    alert(
      'TOO_OLD',
      `A picture has waited for ${inHours(oldestUnsyncedMs)} to be on the host. "albumd status" says why`,
    )
  const failed = failedInWords(status)
  if (failed !== null) alert('FAILED', failed)
  if (watching && watching.lost > 0) {
    const why = [watching.reason, watching.remedy].filter(text => text !== null).join('; ')
    alert('WATCH_LOST', `${watching.lost} folders can't be watched: ${why}`)
  }
  return { alerts, oldestUnsyncedMs }
}

function refusedInWords(block: Known['blocks'][number], config: KeySource): string {
  const remedy = hostRefusesKey(block) ? `. ${capital(keyRemedy(config, process.env))}` : ''
  return `${capital(blockInWords([block]))}: ${block.message}${remedy}`
}

/** What passes by itself is no alert. When a picture waits too long for that, there is an alert TOO_OLD. */
function failedInWords({ mirrors, failures }: Known): string | null {
  const [first, ...others] = failures.filter(({ needs_person }) => needs_person)
  if (!first) return null
  const least = failures.length === FAILURES_SHOWN ? 'at least ' : ''
  const more = others.length > 0 ? ` (and ${least}${others.length} more)` : ''
  const at = mirrors.length > 1 ? fullPath(first.mirror, first.path) : first.path || first.mirror
  return `${at}${more}: ${first.message}`
}

/**
 * The blocks that a person must end. An endpoint outside the plan is an alert only when something waits for the endpoint.
 */
function blocksInTheWay({ mirrors, blocks }: Known): Known['blocks'] {
  const waits = (what: WaitingCount) => mirrors.some(mirror => mirror[what] > 0)
  const needed = (endpoint: string) =>
    waits(endpoint === 'delete' ? 'pending_deletions' : endpoint === 'list' ? 'uncertain' : 'pending_uploads')
  return blocks.filter(
    ({ code, endpoint, needs_person }) => needs_person && (code !== 'PLAN_NOT_SUPPORTED' || needed(endpoint)),
  )
}

function inHours(ms: number): string {
  const hours = Math.floor(ms / 3_600_000)
  return hours < 1 ? 'less than an hour' : hours === 1 ? 'an hour' : `${hours} hours`
}

/** What keeps the daemon from its work: its state (STATE), or the store that the machines share. */
export function waitsAlert(why: string, message: string): Alert {
  const code = why.startsWith('STORE_') ? why : 'STATE'
  return { key: code, code, message }
}
