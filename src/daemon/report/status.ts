import { checkFolders } from '../../config/folders.ts'
import type { Config } from '../../config/schema.ts'
import { realDisk } from '../../local/disk.ts'
import { type Millis, systemClock } from '../../protocol/clock.ts'
import { firstRecorded, restorableSince } from '../../records/versions.ts'
import { needsPerson } from '../../remote/failures.ts'
import type { HostFailure } from '../../remote/host.ts'
import { lossEndsAt } from '../../sync/clock.ts'
import { triedAgainAt } from '../../sync/quota/index.ts'
import { doubtOfRoot } from '../../sync/scan/index.ts'
import { stateIsLocked, whoMirrors } from '../../synced/lock.ts'
import { StateError } from '../../synced/state-error.ts'
import { LEFT, type LeftToDo } from '../../synced/summary.ts'
import type { Records, Synced } from '../../synced/synced.ts'
import type { Deliveries } from '../../synced/tables/meta.ts'
import { inWords, type Reason } from '../../words/reasons.ts'
import { isoTime } from '../../words/text.ts'
import { orNull } from '../or-null.ts'
import { version } from '../package.ts'
import { fingerprintOf, stateFiles } from '../state/claim.ts'
import { pauseAt } from '../state/pause.ts'
import { type RecordsGap, recordsGaps } from '../state/records.ts'
import { readState, refuseOther } from '../state/state.ts'
import { readWatching, type Watching } from '../watch/watching.ts'
import { type FailureStatus, failuresOf } from './failures.ts'
import { accountStatus, type MachineStatus, type StoreStatus } from './machines.ts'
import { type MirrorStatus, mirrorStatus } from './mirror-status.ts'
import { allowanceOf, type BacklogStatus, type QuotaStatus, quotaStatus } from './quota-status.ts'
import { uploadsWaitUntil } from './upload-hours.ts'

/** `status --json`, as the contract has it. Times are ISO 8601. */
export interface Status {
  version: string
  running: boolean
  pid: number | null
  /** Whether the daemon works with another config than this command. */
  other_config: boolean
  /** The file of the running daemon's config. Null: no daemon says it. */
  config_file: string | null
  /** Why the daemon refused the config that it last read again. Null: it refused none. */
  config_refused: string | null
  /** Whether albumd must be stopped for the refused config, so that no reload helps. */
  config_needs_stop: boolean
  /** Why the daemon refused the key, whose file changed or is gone. Null: it works with the key read last. */
  key_refused: string | null
  /** Null: albumd is not paused. `until` null: the pause lasts until `albumd resume`. */
  paused: { until: string | null } | null
  mirrors: MirrorStatus[]
  /** Mirrors that were taken out of the config, and how many of their images stay on the host. */
  removed: { folder: string; images: number }[]
  quota: QuotaStatus
  backlog: BacklogStatus
  /** Why albumd does nothing: its state can't be opened, or another albumd has its albums or folders. Null: it works. */
  waits_for: { code: string; message: string } | null
  /** Null: the config names no store in account.shared, or no daemon runs that could tell. */
  store: StoreStatus | null
  /** The machines that share the account. Empty without account.shared. */
  machines: MachineStatus[]
  /** Null: no daemon runs. */
  watching: Watching | null
  /** When a running daemon uploads again. Null: it may upload now, or no daemon runs. See `uploads.hours`. */
  uploads_wait_until: string | null
  /** Until when pictures wait for the last uploads of a lost state, which may still arrive. Null: they do not wait. */
  loss_ends_at: string | null
  /** How the host delivers pictures, by format, as far as deliveries have shown it. */
  delivery: Deliveries
  /** From this time on, `albumd restore --at` brings everything back. Null: nothing is recorded yet. */
  restorable_since: string | null
  /** From this time on, `albumd restore --at` brings back what the host has not given up. Null: nothing earlier is recorded. */
  restorable_in_part_since: string | null
  /** The spans of time in which nothing was recorded, so nothing of them comes back. The earliest first. */
  restorable_gaps: RecordsGap[]
  audit: AuditStatus
  /** What the host does not allow. `since`: when the host first refused it. `said_at`: when the host last refused it. */
  blocks: {
    code: string
    endpoint: string
    since: string
    said_at: string
    message: string
    /** When a running daemon tries again, at the earliest. Null: no daemon runs. */
    next_try_at: string | null
    /** Whether a person must end the block. False: it passes, and albumd tries again by itself. */
    needs_person: boolean
  }[]
  /** Why `notify.on_upload` failed the last time that `albumd run` ran it. Null: it did not fail. */
  upload_command_failed: string | null
  /** The same of `notify.on_trouble` and `notify.heartbeat`. */
  trouble_command_failed: string | null
  heartbeat_failed: string | null
  failures: FailureStatus[]
}

/** What a running daemon says of itself when it is asked. It can't record this where its disk is full. */
export interface DaemonTold {
  pid: number
  /** The config's file. Null: the config comes from no file. */
  config: string | null
  mirrors: Config['mirrors']
  /** What keeps the daemon from its work. Null: nothing. */
  problem: Status['waits_for']
}

/** Reads the status of a state that another process may use, or that does not exist yet. `told`: what that process said. */
export function readStatus(given: Config, now: number, told: DaemonTold | null = null): Status {
  const running = stateIsLocked(stateFiles(given.state_dir).lock)
  // The daemon's mirrors count, because it may not have taken the config. A daemon of an older version does not tell them.
  const config = running && told?.mirrors ? { ...given, mirrors: told.mirrors } : given
  const { status, taken, other, doubts } = readState(config, synced => ({
    status: { ...statusOf(config, synced, running, now), other_config: running && isOther(synced, given) },
    taken: config.account.shared === undefined ? null : synced.meta.get('album_taken'),
    other: running ? null : whyOther(config, synced),
    doubts: running
      ? []
      : config.mirrors.map(({ folder }) => doubtOfRoot(realDisk, synced, folder)?.reason ?? null),
  }))
  const waits =
    told?.problem ??
    other ??
    (running ? null : mirroredElsewhere(config)) ??
    (taken && !running ? { code: 'LOCKED', message: inWords(taken) } : null)
  // A daemon without its state or its albums does nothing, so the records are old.
  const mirrors = waits
    ? status.mirrors.map(mirror => stopped(mirror, 'blocked', waits.message))
    : status.mirrors
  return {
    ...status,
    ...(running && told && { pid: told.pid, config_file: told.config }),
    waits_for: waits && { code: waits.code, message: waits.message },
    mirrors: running ? mirrors : guardedNow(config, mirrors, waits ? [] : doubts),
  }
}

function mirroredElsewhere({ mirrors }: Config): Status['waits_for'] {
  for (const { folder } of mirrors) {
    const root = orNull(() => realDisk.lstat(folder))
    const why = root && whoMirrors(folder, root)
    if (why) return { code: 'LOCKED', message: inWords(why) }
  }
  return null
}

function whyOther(config: Config, synced: Synced): Status['waits_for'] {
  try {
    refuseOther(synced, config)
    return null
  } catch (error) {
    if (!(error instanceof StateError)) throw error
    return { code: error.code, message: error.message }
  }
}

/** Checks the roots while no daemon does, because a folder may be missing or another. `doubts`: about the roots. */
function guardedNow(
  config: Config,
  mirrors: readonly MirrorStatus[],
  doubts: readonly (Reason | null)[],
): MirrorStatus[] {
  const problems = checkFolders(config).filter(({ code }) => code !== 'FOLDER_OVERLAP')
  return mirrors.map((mirror, at) => {
    const doubt = doubts[at]
    const reason =
      problems.find(({ folder }) => folder === mirror.folder)?.message ?? (doubt ? inWords(doubt) : null)
    return reason === null ? mirror : stopped(mirror, 'guarded', reason)
  })
}

function stopped(mirror: MirrorStatus, state: MirrorStatus['state'], reason: string): MirrorStatus {
  return { ...mirror, state, reason, doubt: null, needs_person: true }
}

export function statusOf(config: Config, synced: Synced, running: boolean, now: Millis): Status {
  const blocks = synced.account.blocks()
  const paused = pauseAt(synced, now)
  const mirrors = synced.mirrors.idsOf(config.mirrors)
  const whole = restorableSince(synced, mirrors)
  const first = firstRecorded(synced)
  return {
    version,
    running,
    pid: running ? synced.meta.get('pid') : null,
    other_config: running && isOther(synced, config),
    config_file: null,
    waits_for: null,
    config_needs_stop: running && synced.meta.get('config_needs_stop') === true,
    config_refused: running ? synced.meta.get('config_refused') : null,
    key_refused: running ? synced.meta.get('key_refused') : null,
    paused: paused && { until: isoTime(paused.until) },
    mirrors: config.mirrors.map(mirror => mirrorStatus({ config, synced, running, now }, mirror)),
    removed: removedMirrors(synced, mirrors),
    ...quotaStatus(config, synced, now),
    ...accountStatus(config, synced, running),
    watching: readWatching(synced, running),
    uploads_wait_until: running ? isoTime(uploadsWaitUntil(config.uploads.hours, now)) : null,
    loss_ends_at: isoTime(lossEndsAt(synced, config.host.credential_lifetime, systemClock)),
    delivery: synced.meta.get('delivery') ?? {},
    restorable_since: isoTime(whole),
    restorable_in_part_since: isoTime(first !== null && whole !== null && first < whole ? first : null),
    restorable_gaps: recordsGaps(stateFiles(config.state_dir), synced),
    audit: auditStatus(synced, mirrors, running),
    blocks: blocks.map(({ code, endpoint, since, said_at, message }) => ({
      code,
      endpoint,
      since: isoTime(since),
      said_at: isoTime(said_at),
      message: inWords(message),
      next_try_at: running ? isoTime(triedAgainAt({ code, since, said_at }, allowanceOf(config))) : null,
      needs_person: needsPerson(code),
    })),
    upload_command_failed: synced.meta.get('upload_command_failed'),
    trouble_command_failed: synced.meta.get('trouble_command_failed'),
    heartbeat_failed: synced.meta.get('heartbeat_failed'),
    failures: failuresOf(config, synced),
  }
}

function removedMirrors({ mirrors, summaries }: Records, ids: readonly number[]): Status['removed'] {
  return mirrors.all().flatMap(({ id, folder }) => {
    if (ids.includes(id)) return []
    const { synced, linked } = summaries.mirror(id)
    return synced + linked > 0 ? [{ folder, images: synced + linked }] : []
  })
}

function isOther({ meta }: Synced, config: Config): boolean {
  const taken = meta.get('config')
  return taken !== null && taken !== fingerprintOf(config)
}

/** What audits have found, in `status --json`. */
export interface AuditStatus {
  /** When the last audit ended. Null: no audit has ended yet. */
  last: string | null
  /** In how many places the host's listing differs from the records. `albumd audit` names each. */
  findings: number
  /** How many findings there are of each kind. `foreign` is no difference: it counts images without a record. */
  kinds: Record<'gone' | 'changed' | 'foreign' | 'twice', number>
  /** Pictures to upload again, because an audit found their images gone from the host and repaired this. */
  to_upload_again: number
  /** Whether an audit has begun and not ended. It may wait while the daemon does something else. */
  under_way: boolean
  /** Whether an audit was interrupted. The next audit goes on where that one ended. */
  left_off: boolean
}

function auditStatus(
  { meta, audit, summaries }: Records,
  mirrors: readonly number[],
  running: boolean,
): AuditStatus {
  const ended = meta.get('audit_ended')
  const begun = meta.get('audit_began') !== null
  const kinds = { gone: 0, changed: 0, foreign: 0, twice: 0 }
  for (const { kind, n } of audit.kinds()) kinds[kind] = n
  const underWay = begun && running && !meta.get('audit_stopped')
  return {
    last: isoTime(ended),
    findings: Object.values(kinds).reduce((sum, n) => sum + n, 0),
    kinds,
    to_upload_again: summaries.lost(mirrors),
    under_way: underWay,
    // An audit that has compared no album was not interrupted: the host refused its first request.
    left_off: begun && !underWay && audit.albums().some(album => audit.isDone(album)),
  }
}

/** The result of a pass. left: something could not be done yet. refused: the host refuses the key, or all that albumd needs. */
export type Verdict = 'in_sync' | 'left' | 'refused'

/** What is left to do in a mirror, or at a path in it. `folder`: the mirror's. */
export type LeftOf = LeftToDo & Pick<MirrorStatus, 'folder' | 'state' | 'needs_person'>

export function verdictOn(status: { mirrors: readonly LeftOf[] }, stopped: readonly HostFailure[]): Verdict {
  if (stopped.some(({ remedy }) => remedy === 'key') || planIsRefused(stopped)) return 'refused'
  const left = status.mirrors.some(
    mirror => mirror.state === 'guarded' || LEFT.some(what => mirror[what] > 0),
  )
  return left || stopped.some(({ remedy }) => remedy !== 'plan') ? 'left' : 'in_sync'
}

/** Whether the plan has neither uploads nor listings, so that albumd can do nothing at all. */
function planIsRefused(stopped: readonly HostFailure[]): boolean {
  const refused = new Set(stopped.filter(({ remedy }) => remedy === 'plan').map(({ endpoint }) => endpoint))
  return refused.has('upload') && refused.has('list')
}
