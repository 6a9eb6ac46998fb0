import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import { readRemedy } from './read-remedy.ts'

/** Why changes on the disk may not be noticed. */
export interface WatchLoss {
  code: 'WATCH_LIMIT' | 'WATCH_OVERFLOW' | 'WATCH_ERROR'
  /** A sentence: what is wrong. */
  message: string
  /** A sentence: what a person can do. */
  remedy: string
}

/** So much changed at once that the kernel's queue may have been full. Nobody knows which folders are concerned. */
export const OVERFLOW: WatchLoss = {
  code: 'WATCH_OVERFLOW',
  message: 'So much changed at once that some of it may have gone unseen; all folders are looked at again.',
  remedy: `Where this happens often, make the system's queue longer: ${sysctl('max_queued_events', 131_072)}.`,
}

/** The loss that an error means which opening a watch threw. `path`: the folder's absolute path. */
export function lossOf(error: unknown, path: string): WatchLoss {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOSPC') return limit('max_user_watches', 1_048_576)
  if (code === 'EMFILE') return mayOpenFiles() ? limit('max_user_instances', 1024) : NO_FILES
  return {
    code: 'WATCH_ERROR',
    message: `${path} can't be watched (${code ?? message}).`,
    remedy: sentence(readRemedy(code)),
  }
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`
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
  message: 'Too many files are open, so some folders are not watched.',
  remedy: 'Raise the limit of open files (ulimit -n; LimitNOFILE= for a service).',
}

function limit(key: string, more: number): WatchLoss {
  return {
    code: 'WATCH_LIMIT',
    message: `The system's limit fs.inotify.${key} is reached, so some folders are not watched.`,
    remedy: `Raise it: ${sysctl(key, more)}.`,
  }
}

function sysctl(key: string, value: number): string {
  return `sudo sysctl fs.inotify.${key}=${value}, and the same line in /etc/sysctl.d to keep it`
}
