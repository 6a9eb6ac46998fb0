import type { Config } from '../../config/schema.ts'
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
  /** Whether it is a folder or an upload in doubt, and no picture that failed. */
  in_doubt: boolean
  /** Whether a person must do something about it. False: it passes. */
  needs_person: boolean
}

export const FAILURES_SHOWN = 1000

/** The failures of the mirrors in the config. Doubts come first, then failures that are not tried again by themselves. */
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
