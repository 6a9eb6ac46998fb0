import { isAnother, otherConfigRemedy } from '../../config/config-file.ts'
import { type KeySource, keyRemedy } from '../../config/host-access.ts'
import type { Config } from '../../config/schema.ts'
import { HOUR_MS } from '../../protocol/clock.ts'
import { fullPath } from '../../sync/tree-path.ts'
import { because, blockInWords, factOf, hostRefusesKey, type Reason, remedyOf } from '../../words/reasons.ts'
import { capital } from '../../words/text.ts'
import { FAILURES_SHOWN } from '../report/failures.ts'
import type { Status } from '../report/status.ts'

export interface Alert {
  /** Identifies the alert. Two alerts with the same key are the same alert. */
  key: string
  /** A code of `Check`, or STATE, STATE_COPIED, STORE_AWAY or STORE_NEW. */
  code: string
  /** One line. */
  message: string
}

/** A row of the table of checks, by which notices, page, metrics, `status` and `doctor` say how albumd is. */
export interface Check {
  key: string
  /** An alert's code, or a host's error code. Of what is no alert: OTHER_CONFIG, PAUSED, LOSS, USED_UP_EARLY, UPLOAD_COMMAND,
   * TROUBLE_COMMAND, HEARTBEAT or STORE_AWAY. */
  code: string
  /** What is the case, in one line. */
  look: string
  /** What a person can do. Null: `look` says it. */
  remedy: string | null
  /** Whether people are told of it unasked. */
  isAlert: boolean
  /** The folder of the mirror concerned. Null: it concerns no single mirror. */
  folder: string | null
}

/** Alerts that end by themselves. They only say that something takes long. */
const PASSING: ReadonlySet<string> = new Set(['TOO_OLD', 'STORE_NEW', 'MANY'])

export function isForPerson({ code }: Pick<Alert, 'code'>): boolean {
  return !PASSING.has(code)
}

/** Whether the alert says that something is wrong. MANY does not: people are told of many deletions so that they may object. */
export function isTrouble({ code }: Pick<Alert, 'code'>): boolean {
  return code !== 'MANY'
}

export interface Health {
  /** The alerts, the gravest one first. */
  alerts: Alert[]
  /** How long the oldest pending picture has waited, in milliseconds. */
  oldestUnsyncedMs: number
}

/** How long a silence must be to show a disk that hangs: a folder of a million pictures takes hours on a slow disk. */
const STUCK_MS = 6 * HOUR_MS

type Known = Pick<Status, 'mirrors' | 'blocks' | 'failures'> & Partial<Status>
type WaitingCount = 'pending_uploads' | 'pending_deletions' | 'uncertain'

export type HealthConfig = KeySource & { notify: Pick<Config['notify'], 'max_age'> }

/** The health, as the daemon's own process sees it. `quietMs`: for how long the daemon gave no sign of life. */
export function healthOf(status: Known, config: HealthConfig, now: number, quietMs: number): Health {
  const told = checksOf(status, config, now, null, quietMs, process.env).filter(({ isAlert }) => isAlert)
  const alerts = told.map(({ key, code, look, remedy }) => {
    return { key, code, message: remedy === null ? look : `${look}. ${remedy}` }
  })
  return { alerts, oldestUnsyncedMs: oldestUnsynced(status, now) }
}

function oldestUnsynced({ mirrors }: Known, now: number): number {
  const since = mirrors.flatMap(({ oldest_unsynced }) => oldest_unsynced ?? []).map(Date.parse)
  return since.length > 0 ? Math.max(0, now - Math.min(...since)) : 0
}

/** The rows that apply to a status, the gravest first. `file`: the config's file of the asker; null: the daemon asks. `env`:
 * where the key may come from; null: the key is another process's. */
export function checksOf(
  status: Known,
  config: HealthConfig,
  now: number,
  file: string | null = null,
  quietMs = 0,
  env: NodeJS.ProcessEnv | null = null,
): Check[] {
  return [
    ...(quietMs > STUCK_MS ? [row('STUCK', because('no_sign_of_life', { ms: quietMs }))] : []),
    ...ofSettings(status, file),
    ...ofMirrors(status, config, env),
    ...ofPictures(status, config, now),
    ...ofSurroundings(status),
  ]
}

function row(code: string, why: Reason, more: Partial<Check> = {}): Check {
  return line(code, factOf(why), { remedy: remedyOf(why), ...more })
}

/** A row of the table with this line. `more`: what differs from the row of an alert without a remedy. */
function line(code: string, look: string, more: Partial<Check> = {}): Check {
  return { key: code, code, look, remedy: null, isAlert: true, folder: null, ...more }
}

const NOTE = { isAlert: false }

function* ofSettings(status: Known, file: string | null): Generator<Check> {
  const { config_file = null, config_refused, key_refused, other_config, paused } = status
  // A refusal concerns the file that the daemon reads, and no other file.
  const isOther = file !== null && isAnother(config_file, file)
  const remedy = otherConfigRemedy(status, file)
  if (config_refused && !isOther) {
    const key = `CONFIG ${config_refused}`
    yield row('CONFIG', because('config_refused', { said: config_refused }), { key, remedy })
  } else if (config_refused || other_config)
    yield row('OTHER_CONFIG', because('other_config'), { ...NOTE, remedy })
  if (key_refused) yield row('KEY', because('key_not_read', { said: key_refused }))
  if (!paused) return
  const until = paused.until === null ? null : Date.parse(paused.until)
  yield row('PAUSED', because('paused_until', { until }), { ...NOTE, remedy: 'albumd resume' })
}

function* ofMirrors(status: Known, config: HealthConfig, env: NodeJS.ProcessEnv | null): Generator<Check> {
  const { mirrors } = status
  for (const { folder, reason, state, needs_person } of mirrors)
    if (state === 'guarded' && needs_person)
      yield line('GUARDED', reason ?? folder, { key: `GUARDED ${folder}`, folder })
  for (const block of blocksInTheWay(status)) {
    const ofKey = hostRefusesKey(block)
    yield line(block.code, `${capital(blockInWords([block]))}: ${block.message}`, {
      // A refused key is one trouble, whichever endpoint was asked first.
      key: `BLOCKED ${ofKey ? 'key' : block.endpoint} ${block.code}`,
      remedy: ofKey ? capital(keyRemedy(config, env)) : null,
    })
  }
  for (const { folder, held_deletions: deletions } of mirrors)
    if (deletions > 0) {
      const why = because('deletions_wait', { deletions })
      yield row('HELD', because('mirror_holds', { folder, why }), { key: `HELD ${folder}`, folder })
    }
  for (const { folder, many } of mirrors)
    if (many) {
      const { deletions, folders, running_ms: ms, news: isAlert } = many
      const until = many.until === null ? null : Date.parse(many.until)
      const why = because('many_deletions', { folder, deletions, folders, until, ms })
      yield row('MANY', why, { key: `MANY ${folder}`, folder, isAlert })
    }
}

function* ofPictures(status: Known, config: HealthConfig, now: number): Generator<Check> {
  const { mirrors, loss_ends_at } = status
  const pictures = mirrors.reduce((sum, { gone_on_host }) => sum + gone_on_host, 0)
  const first = mirrors.find(({ first_gone_on_host }) => first_gone_on_host !== null)
  const path = first ? fullPath(first.folder, first.first_gone_on_host!) : null
  if (pictures > 0) yield row('GONE_ON_HOST', because('gone_on_host', { pictures, path }))
  const ms = oldestUnsynced(status, now)
  if (ms > config.notify.max_age) yield row('TOO_OLD', because('waits_too_long', { ms }))
  const failed = failedInWords(status)
  if (failed !== null) yield line('FAILED', failed)
  if (!loss_ends_at) return
  const loss = because('sent_before_loss', { until: Date.parse(loss_ends_at) })
  yield row('LOSS', loss, { ...NOTE, remedy: BY_ITSELF })
}

function* ofSurroundings(status: Known): Generator<Check> {
  const { watching, quota, store } = status
  if (watching && watching.lost > 0) {
    const { lost: folders, reason, remedy } = watching
    const why = [reason, remedy].filter(text => text !== null).join('. ')
    yield row('WATCH_LOST', because('folders_not_watched', { folders }), { remedy: why })
  }
  if (quota?.used_up_early)
    yield row('USED_UP_EARLY', because('quota_ends_early', { used: quota.used, limit: quota.limit }), NOTE)
  for (const [code, name, said] of [
    ['UPLOAD_COMMAND', 'on_upload', status.upload_command_failed],
    ['TROUBLE_COMMAND', 'on_trouble', status.trouble_command_failed],
    ['HEARTBEAT', 'heartbeat', status.heartbeat_failed],
  ] as const)
    if (said) yield row(code, because('notify_fails', { name, said }), NOTE)
  if (store?.away) yield row('STORE_AWAY', because('store_is_away', { said: store.away.message }), NOTE)
}

/** Failures that a person must end. Others are no alert: a picture that waits too long for them has the alert TOO_OLD. */
function failedInWords({ mirrors, failures }: Known): string | null {
  const [first, ...others] = failures.filter(({ needs_person }) => needs_person)
  if (!first) return null
  const least = failures.length === FAILURES_SHOWN ? 'at least ' : ''
  const more = others.length > 0 ? ` (and ${least}${others.length} more)` : ''
  const at = mirrors.length > 1 ? fullPath(first.mirror, first.path) : first.path || first.mirror
  return `${at}${more}: ${first.message}`
}

/** The blocks that a person must end. A block of an endpoint that the plan lacks counts only when something waits for it. */
function blocksInTheWay({ mirrors, blocks }: Known): Known['blocks'] {
  const waits = (what: WaitingCount) => mirrors.some(mirror => mirror[what] > 0)
  const needed = (endpoint: string) =>
    waits(endpoint === 'delete' ? 'pending_deletions' : endpoint === 'list' ? 'uncertain' : 'pending_uploads')
  return blocks.filter(
    ({ code, endpoint, needs_person }) => needs_person && (code !== 'PLAN_NOT_SUPPORTED' || needed(endpoint)),
  )
}

export const BY_ITSELF = 'Nothing to do: albumd goes on by itself'

/** The alert for what keeps the daemon from its work: its state (STATE), a copy of it, or the store of the machines. */
export function waitsAlert(why: string, message: string): Alert {
  const code = why.startsWith('STORE_') || why === 'STATE_COPIED' ? why : 'STATE'
  return { key: code, code, message }
}
