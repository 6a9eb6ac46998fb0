/** In minutes after midnight, UTC: a history is the same on every machine. `from` belongs to them, `to` does not. */
export interface Hours {
  from: number
  to: number
}

const MINUTE_MS = 60_000
const DAY_MINUTES = 24 * 60

export function isOpen({ from, to }: Hours, wall: number): boolean {
  const minute = Math.floor(wall / MINUTE_MS) % DAY_MINUTES
  return from < to ? from <= minute && minute < to : from <= minute || minute < to
}

/** How long they stay open, in milliseconds. */
export function openFor({ to }: Hours, wall: number): number {
  const dayMs = DAY_MINUTES * MINUTE_MS
  return (((to * MINUTE_MS - wall) % dayMs) + dayMs) % dayMs
}
