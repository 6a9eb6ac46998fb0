import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import { because, type Reason } from '../words/reasons.ts'

/** Why changes on the disk may not be noticed. */
export interface WatchLoss {
  code: 'WATCH_LIMIT' | 'WATCH_OVERFLOW' | 'WATCH_ERROR'
  /** A sentence: what is wrong. */
  message: Reason
  /** A sentence: what a person can do. */
  remedy: Reason
}

/** So much changed at once that the kernel's queue may have been full. Nobody knows which folders are concerned. */
export const OVERFLOW: WatchLoss = {
  code: 'WATCH_OVERFLOW',
  message: because('events_lost'),
  remedy: because('longer_queue'),
}

/** The loss that an error means which opening a watch threw. `path`: the folder's absolute path. */
export function lossOf(error: unknown, path: string): WatchLoss {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC') return limit('max_user_watches', 1_048_576)
  if (code === 'EMFILE') return mayOpenFiles() ? limit('max_user_instances', 1024) : NO_FILES
  return {
    code: 'WATCH_ERROR',
    message: because('not_watched', { path, code: code ?? message }),
    remedy: because('read_remedy', { code: code ?? '' }),
  }
}

/** Whether a file can still be opened. EMFILE may mean the process's limit of files or the system's limit of watches. */
function mayOpenFiles(): boolean {
  try {
    closeSync(openSync(devNull, 'r'))
    return true
  } catch {
    return false
  }
}

const NO_FILES: WatchLoss = {
  code: 'WATCH_LIMIT',
  message: because('too_many_files'),
  remedy: because('raise_files'),
}

function limit(key: string, more: number): WatchLoss {
  return {
    code: 'WATCH_LIMIT',
    message: because('watch_limit_reached', { key }),
    remedy: because('raise_limit', { key, value: more }),
  }
}
