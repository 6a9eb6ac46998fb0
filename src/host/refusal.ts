import type { ErrorCode } from '../protocol/errors.ts'
import type { Failing } from './decisions.ts'

/** An account's use of an endpoint's rate (§7, §8). */
export interface RateState {
  /** Requests in any second; Infinity when there is no limit. */
  limit: number
  remaining: number
}

interface Details {
  /** After how many milliseconds the client may try again; null when that is not known. */
  retryAfterMs?: number | null
  rate?: RateState
}

/** Why a request is refused: a code of §7, or a failure for which the host's readings name the code. */
export type Reason = ErrorCode | Failing

/** A refused request. Thrown, because it ends the request and rolls back; HTTP turns it into the envelope of §1. */
export class Refusal extends Error {
  override name = 'Refusal'
  readonly reason: Reason
  readonly retryAfterMs: number | null
  readonly rate: RateState | null

  constructor(reason: Reason, message: string, details: Details = {}) {
    super(message)
    this.reason = reason
    this.retryAfterMs = details.retryAfterMs ?? null
    this.rate = details.rate ?? null
  }
}
