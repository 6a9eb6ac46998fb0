const FIRST_MS = 250
/** A host that asks for more patience than this is asked again all the same. */
const RETRY_AFTER_MAX_MS = 60_000

export interface Backoff {
  /** From 0 to 1. */
  random(): number
  maxDelayMs: number
}

/**
 * Milliseconds to wait after so many failures in a row: exponential with full jitter (§7: clients are advised
 * to), and never less than the host asked for, within reason.
 */
export function backoffMs(
  failures: number,
  retryAfterMs: number | null,
  { random, maxDelayMs }: Backoff,
): number {
  const jittered = random() * Math.min(maxDelayMs, FIRST_MS * 2 ** (failures - 1))
  const asked = Math.min(retryAfterMs ?? 0, Math.max(RETRY_AFTER_MAX_MS, maxDelayMs))
  return Math.max(jittered, asked)
}
