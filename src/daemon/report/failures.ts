import type { Config } from '../../config/schema.ts'
import type { FailureSummary } from '../../synced/summary.ts'
import type { Synced } from '../../synced/synced.ts'
import { endsByItself, inWords } from '../../words/reasons.ts'
import { isoTime } from '../../words/text.ts'

/** A failure, in `status --json` and `accept --json`. */
export interface FailureStatus {
  /** The mirror's folder. `path` is below this folder. */
  mirror: string
  path: string
  code: string
  message: string
  attempts: number
  next_attempt_at: string | null
  /** When a person accepted the failure, or null. */
  accepted_at: string | null
  /** Whether a person may accept the failure. A folder in doubt, and an upload in doubt, can't be accepted. */
  acceptable: boolean
  /** Whether a person must do something about it. False: it passes, or it is accepted. */
  needs_person: boolean
}

/** How many failures are listed. The mirrors' `failed` counts all of them. */
export const FAILURES_SHOWN = 1000

/** The failures of the mirrors in the config. Doubts come first, then failures that are not tried again by themselves. */
export function failuresOf(config: Config, synced: Synced): FailureStatus[] {
  const isRetried = ({ next_attempt_at }: FailureStatus) => next_attempt_at !== null
  return listed(config, synced, 'failuresOf', FAILURES_SHOWN)
    .sort((a, b) => +a.acceptable - +b.acceptable || +isRetried(a) - +isRetried(b))
    .slice(0, FAILURES_SHOWN)
}

/** At most `most` accepted failures of the mirrors in the config. */
export function acceptedOf(config: Config, synced: Synced, most = Number.MAX_SAFE_INTEGER): FailureStatus[] {
  return listed(config, synced, 'acceptedOf', most).slice(0, most)
}

function listed(
  { mirrors }: Config,
  synced: Synced,
  which: 'failuresOf' | 'acceptedOf',
  most: number,
): FailureStatus[] {
  return mirrors.flatMap(({ folder }) =>
    synced.summaries[which](synced.mirrors.of(folder)?.id ?? 0, most).map(failure =>
      failureStatus(folder, failure),
    ),
  )
}

/** `mirror`: the mirror's folder. */
export function failureStatus(mirror: string, failure: FailureSummary): FailureStatus {
  const { path, code, message, attempts, next_attempt_at, accepted_at } = failure
  return {
    mirror,
    path,
    code,
    message: inWords(message),
    attempts,
    next_attempt_at: isoTime(next_attempt_at),
    accepted_at: isoTime(accepted_at),
    acceptable: isAcceptable(failure),
    needs_person: accepted_at === null && next_attempt_at === null && !endsByItself(message),
  }
}

/** Whether a person may accept a failure. Only what keeps a picture from the host can be accepted. */
export function isAcceptable({ name, code }: Pick<FailureSummary, 'name' | 'code'>): boolean {
  return name !== '' && code !== 'UNCERTAIN'
}
