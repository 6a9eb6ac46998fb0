/**
 * A moment by this machine's clock, for a person: "2026-11-22 18:30:05 +08:00". The offset is shown, because people also
 * read such lines on other machines. `at`: milliseconds since 1970, or ISO 8601.
 */
export function localTime(at: number | string): string {
  const moment = new Date(at)
  const east = -moment.getTimezoneOffset()
  const shifted = new Date(moment.getTime() + east * 60_000).toISOString()
  const offset = `${two(Math.floor(Math.abs(east) / 60))}:${two(Math.abs(east) % 60)}`
  return `${shifted.slice(0, -5).replace('T', ' ')} ${east < 0 ? '-' : '+'}${offset}`
}

function two(n: number): string {
  return `${n}`.padStart(2, '0')
}
