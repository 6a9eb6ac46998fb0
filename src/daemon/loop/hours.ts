import type { Config } from '../../config/schema.ts'

/** When uploads may go, in minutes after midnight by this machine's clock. */
export type Hours = NonNullable<Config['uploads']['hours']>

const MINUTE_MS = 60_000
/** A border lies within a day, and where a change of the clocks leaves it out, within the next. */
const MOST_MINUTES = 2 * 24 * 60

/** `from` belongs to the hours, `to` does not. Times in milliseconds since 1970. */
export function isOpen({ from, to }: Hours, wall: number): boolean {
  const now = new Date(wall)
  const minute = now.getHours() * 60 + now.getMinutes()
  return from < to ? from <= minute && minute < to : from <= minute || minute < to
}

/**
 * When they open or close next. Minute by minute, so that it is right where the clocks change, in whatever zone: a
 * border may be left out, or come twice.
 */
export function nextBorder(hours: Hours, wall: number): number {
  const open = isOpen(hours, wall)
  let at = Math.floor(wall / MINUTE_MS) * MINUTE_MS
  for (let minutes = 0; minutes < MOST_MINUTES; minutes++) {
    at += MINUTE_MS
    if (isOpen(hours, at) !== open) break
  }
  return at
}

/** Until when uploads wait; null where they may go. */
export function uploadsWaitUntil(hours: Hours | undefined, wall: number): number | null {
  return hours === undefined || isOpen(hours, wall) ? null : nextBorder(hours, wall)
}
