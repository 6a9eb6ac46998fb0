import type { Config } from '../../config/schema.ts'
import { folderAbove, fullPath } from '../../sync/tree-path.ts'
import type { FailureSummary } from '../../synced/summary.ts'
import type { Synced } from '../../synced/synced.ts'
import { endsByItself, inWords } from '../../words/reasons.ts'
import { isoTime } from '../../words/text.ts'

/** A failure, in `status --json`. */
export interface FailureStatus {
  /** The mirror's folder. `path` is below this folder. */
  mirror: string
  path: string
  code: string
  message: string
  attempts: number
  next_attempt_at: string | null
  /** Whether a folder or an upload is in doubt. False: a picture failed. */
  in_doubt: boolean
  /** Whether a person must end it. False: it passes by itself. */
  needs_person: boolean
}

export const FAILURES_SHOWN = 1000

/** The failures in the config's mirrors. Doubts come first, then failures that albumd does not retry by itself. */
export function failuresOf({ mirrors }: Config, synced: Synced): FailureStatus[] {
  const isRetried = ({ next_attempt_at }: FailureStatus) => next_attempt_at !== null
  return mirrors
    .flatMap(({ folder }) =>
      synced.summaries
        .failuresOf(synced.mirrors.of(folder)?.id ?? 0, FAILURES_SHOWN)
        .map(failure => failureStatus(folder, failure)),
    )
    .sort((a, b) => +b.in_doubt - +a.in_doubt || +isRetried(a) - +isRetried(b))
    .slice(0, FAILURES_SHOWN)
}

export function failureStatus(mirror: string, failure: FailureSummary): FailureStatus {
  const { name, path, code, message, attempts, next_attempt_at } = failure
  return {
    mirror,
    path,
    code,
    message: inWords(message),
    attempts,
    next_attempt_at: isoTime(next_attempt_at),
    in_doubt: name === '' || code === 'UNCERTAIN',
    needs_person: next_attempt_at === null && !endsByItself(message),
  }
}

/** Failures of one kind in one folder. */
export interface AlikeFailures {
  /** The path of the only one, or the folder of several. Whole; `path` is below the mirror's folder. */
  full: string
  path: string
  /** What they have in common: what differs stands in brackets. */
  message: string
  all: [FailureStatus, ...FailureStatus[]]
}

/** Failures grouped by folder and kind, in the order of the first of each group. */
export function alikeFailures(failures: readonly FailureStatus[]): AlikeFailures[] {
  const groups = Map.groupBy(failures, ({ mirror, path, code, message, next_attempt_at: again }) =>
    [fullPath(mirror, path && folderAbove(path)), code, common(message), again !== null].join('\n'),
  )
  return [...groups.values()].map(group => {
    const all = group as AlikeFailures['all']
    const [{ mirror, path: first, message }, second] = all
    const path = second ? folderAbove(first) : first
    const isSame = all.every(one => one.message === message)
    return { full: fullPath(mirror, path), path, message: isSame ? message : common(message), all }
  })
}

function common(message: string): string {
  return message.replace(/ \([^()]*\)/g, '')
}
