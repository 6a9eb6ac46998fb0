import { existsSync } from 'node:fs'
import type { Config } from '../config/schema.ts'
import { DAILY_QUOTA } from '../protocol/limits.ts'
import { quotaDayOf } from '../sync/quota-day.ts'
import { openDatabase, openDatabaseToRead } from '../synced/database.ts'
import { stateIsLocked } from '../synced/lock.ts'
import { explained } from '../synced/state-error.ts'
import type { MirrorSummary } from '../synced/summary.ts'
import { openSynced, type Synced } from '../synced/synced.ts'
import { stateFiles } from './state.ts'
import { readTroubleNote } from './trouble-note.ts'
import { version } from './version.ts'

/** `status --json`, as the contract has it. Times are ISO 8601. */
export interface Status {
  version: string
  running: boolean
  pid: number | null
  mirrors: MirrorStatus[]
  quota: { plan: string; limit: number; used: number; exhausted: boolean; resumes_at: string | null }
  /** `said_at`: when the host said so the last time. */
  blocks: { code: string; endpoint: string; since: string; said_at: string; message: string }[]
  failures: {
    path: string
    code: string
    message: string
    attempts: number
    next_attempt_at: string | null
  }[]
}

export interface MirrorStatus extends Omit<MirrorSummary, 'oldest_unsynced'> {
  folder: string
  album: string
  state: 'idle' | 'scanning' | 'syncing' | 'guarded' | 'blocked'
  reason: string | null
  oldest_unsynced: string | null
}

/** How many failures are shown; the counts tell of the others. */
const FAILURES_SHOWN = 1000

/** Reads the status of a state, whether a process works on it, none does, or it does not exist yet. */
export function readStatus(config: Config, now: number): Status {
  const { lock, trouble } = stateFiles(config.state_dir)
  const running = stateIsLocked(lock)
  const note = running ? readTroubleNote(trouble) : null
  const status = readState(config, synced => statusOf(config, synced, running, now))
  if (note === null) return status
  // What the records say of the mirrors is of before.
  const mirrors = status.mirrors.map(mirror => ({ ...mirror, state: 'blocked' as const, reason: note }))
  return { ...status, mirrors }
}

/** Looks into a state without having it: beside the process that works on it, or where there is none yet. */
export function readState<T>(config: Config, look: (synced: Synced) => T): T {
  const { database } = stateFiles(config.state_dir)
  const db = existsSync(database) ? openDatabaseToRead(database) : openDatabase(':memory:')
  try {
    return look(openSynced(db))
  } catch (error) {
    throw explained(error, database)
  } finally {
    db.close()
  }
}

/** The status as this state has it. `running`: whether a process has it open. */
export function statusOf(config: Config, synced: Synced, running: boolean, now: number): Status {
  const pid = synced.meta.get('pid')
  const limit = config.host.daily_quota ?? DAILY_QUOTA[config.host.plan]
  const { used, exhausted, resumes_at } = synced.account.quota(quotaDayOf(config.host.quota_reset)(now))
  const blocks = synced.account.blocks()
  return {
    version,
    running,
    pid: running && pid !== null ? Number(pid) : null,
    mirrors: config.mirrors.map(({ folder, album }) =>
      mirrorStatus(synced, folder, album, running, blocks[0]?.message ?? null),
    ),
    quota: {
      plan: config.host.plan,
      limit,
      used,
      exhausted: exhausted !== null,
      resumes_at: time(resumes_at),
    },
    blocks: blocks.map(({ code, endpoint, since, said_at, message }) => ({
      code,
      endpoint,
      since: time(since)!,
      said_at: time(said_at)!,
      message,
    })),
    failures: synced.summaries
      .failures(FAILURES_SHOWN)
      .map(({ path, code, message, attempts, next_attempt_at }) => ({
        path,
        code,
        message,
        attempts,
        next_attempt_at: time(next_attempt_at),
      })),
  }
}

function mirrorStatus(
  synced: Synced,
  folder: string,
  album: string,
  running: boolean,
  blocked: string | null,
): MirrorStatus {
  const row = synced.mirrors.of(folder)
  const summary = synced.summaries.mirror(row?.id ?? 0)
  const state = (): [MirrorStatus['state'], string | null] => {
    if (row?.guard) return ['guarded', row.guard]
    if (running && row?.phase) return [row.phase, null]
    // What nothing waits for does not hold it up.
    if (blocked && summary.pending_uploads + summary.pending_deletions + summary.uncertain > 0)
      return ['blocked', blocked]
    return ['idle', null]
  }
  const [name, reason] = state()
  return { folder, album, state: name, reason, ...summary, oldest_unsynced: time(summary.oldest_unsynced) }
}

function time(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
