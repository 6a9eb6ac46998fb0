import type { Attempt, Gate } from '../gate/gate.ts'
import { NO_PACE, type Pace, paceOf } from '../gate/rate-headers.ts'
import type { Outcome } from '../host.ts'
import type { Secrets } from '../secrets.ts'
import type { Address } from './address.ts'
import type { HttpResult } from './exchange.ts'
import type { Http } from './http.ts'
import { type Reading, readAnswer } from './read-answer.ts'

/** What every request to one host goes through. */
export interface Connection {
  /** {base_url}. */
  base: Address
  /** {site_url}. */
  site: Address
  apiKey: string
  secrets: Secrets
  /** How long the answer to a question may take as a whole, drop by drop. */
  answerLimitMs: number
  gate: Gate
  http: Http
}

export const COMMON_HEADERS = { 'user-agent': 'albumd', accept: 'application/json' }

/** What the gate wants to know of a request. */
export function attemptOf<T>(reading: Reading<T>, result: HttpResult): Attempt<T> {
  const outcome = readAnswer(reading, result)
  if (result.kind !== 'answer') return { outcome, status: null, pace: NO_PACE }
  const pace = paceOf(result.headers)
  return { outcome: withEnd(outcome, pace), status: result.status, pace }
}

/** When a used-up quota comes back is no matter of the gate's pace: who keeps the quota wants to know. */
function withEnd<T>(outcome: Outcome<T>, { retryAfterMs }: Pace): Outcome<T> {
  if (outcome.ok || outcome.failure.remedy !== 'quota' || retryAfterMs === null) return outcome
  return { ok: false, failure: { ...outcome.failure, retryAfterMs } }
}
