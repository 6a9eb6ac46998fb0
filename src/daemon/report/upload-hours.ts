import type { Config } from '../../config/schema.ts'

/** When pictures may be uploaded, in minutes after midnight by this machine's clock. */
export type Hours = NonNullable<Config['uploads']['hours']>

const MINUTE_MS = 60_000
/** How far ahead `nextBorder` looks. A change of the clocks may skip a border until the next day. */
const MOST_MINUTES = 2 * 24 * 60

/** Whether pictures may be uploaded. `from` belongs to the hours, `to` does not. `wall`: milliseconds since 1970. */
export function isOpen({ from, to }: Hours, wall: number): boolean {
  const now = new Date(wall)
  const minute = now.getHours() * 60 + now.getMinutes()
  return from < to ? from <= minute && minute < to : from <= minute || minute < to
}

/** When the hours open or close next. Each minute is tried, because a change of the clocks may skip or repeat one. */
export function nextBorder(hours: Hours, wall: number): number {
  const open = isOpen(hours, wall)
  let at = Math.floor(wall / MINUTE_MS) * MINUTE_MS
  for (let minutes = 0; minutes < MOST_MINUTES; minutes++) {
    at += MINUTE_MS
    if (isOpen(hours, at) !== open) break
  }
  return at
}

export function uploadsWaitUntil(hours: Hours | undefined, wall: number): number | null {
  return hours === undefined || isOpen(hours, wall) ? null : nextBorder(hours, wall)
}
