/**
 * How long after it was opened an upload may still arrive, in milliseconds: its credential's life (§8), and a margin
 * for the host's clock and for a proxy that holds a request back.
 */
export function mayArriveFor(credentialLifetimeMs: number): number {
  return credentialLifetimeMs * 1.2 + 1000
}
