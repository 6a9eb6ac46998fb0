import type { Address } from './address.ts'
import type { HttpResult } from './exchange.ts'
import type { Attempt, Gate } from './gate.ts'
import type { Http } from './http.ts'
import { NO_PACE, paceOf } from './rate-headers.ts'
import { type Reading, readAnswer } from './read-answer.ts'

/** What every request to one host goes through. */
export interface Connection {
  /** {base_url}. */
  base: Address
  /** {site_url}. */
  site: Address
  apiKey: string
  /** How long the answer to a question may take as a whole, drop by drop. */
  answerLimitMs: number
  gate: Gate
  http: Http
}

export const COMMON_HEADERS = { 'user-agent': 'albumd', accept: 'application/json' }

/** What the gate wants to know of a request. */
export function attemptOf<T>(reading: Reading<T>, result: HttpResult): Attempt<T> {
  const outcome = readAnswer(reading, result)
  return result.kind === 'answer'
    ? { outcome, status: result.status, pace: paceOf(result.headers) }
    : { outcome, status: null, pace: NO_PACE }
}
