import { setTimeout as sleep } from 'node:timers/promises'

/** Polls until `found` answers something else than null or undefined. Throws once `limitSeconds` have passed. */
export async function waitFor<T>(
  what: string,
  found: () => T | null | undefined | Promise<T | null | undefined>,
  { limitSeconds = 300, everyMs = 20 } = {},
): Promise<T> {
  const end = performance.now() + limitSeconds * 1000
  for (;;) {
    const value = await found()
    if (value !== null && value !== undefined) return value
    if (performance.now() > end) throw new Error(`${what} did not come within ${limitSeconds} s`)
    await sleep(everyMs)
  }
}

/** Milliseconds of the clock that all processes of a machine share and nobody sets. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
