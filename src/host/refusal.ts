import type { ErrorCode } from '../protocol/errors.ts'

/** How an account stands with an endpoint's per-second limit (§7, §8). */
export interface RateState {
  /** Requests in any second; Infinity where the limit is off. */
  limit: number
  /** Requests that would still be admitted now. */
  remaining: number
}

interface Details {
  /** Milliseconds after which trying again can help. */
  retryAfterMs?: number
  rate?: RateState
}

/**
 * A request that ends here, with a code of §7. It is thrown, for nothing that was meant to follow makes sense any
 * more and an open transaction must go back; whoever carries the answer makes it the failure envelope of §1.
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
