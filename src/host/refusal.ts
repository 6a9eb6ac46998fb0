import type { ErrorCode } from '../protocol/errors.ts'

/** An account's use of an endpoint's rate (§7, §8). */
export interface RateState {
  /** Requests in any second; Infinity when there is no limit. */
  limit: number
  /** How many requests would be admitted at this moment. */
  remaining: number
}

interface Details {
  /** After how many milliseconds the client may try again. */
  retryAfterMs?: number
  rate?: RateState
}

/**
 * A refused request, with a code of §7. A refusal is thrown, because it ends the request and rolls back an open transaction.
 * The HTTP layer turns it into the failure envelope of §1.
 */
export class Refusal extends Error {
  override name = 'Refusal'
  readonly code: ErrorCode
  readonly retryAfterMs: number | null
  readonly rate: RateState | null

  constructor(code: ErrorCode, message: string, details: Details = {}) {
    super(message)
    this.code = code
    this.retryAfterMs = details.retryAfterMs ?? null
    this.rate = details.rate ?? null
  }
}
