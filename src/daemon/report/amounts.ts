import bytes from 'bytes'

/** 1536 → "1.5 KB". */
export function sizeInWords(size: number): string {
  return bytes.format(size, { unitSeparator: ' ', decimalPlaces: 1 }) ?? `${size} B`
}

/** 1, "picture" → "1 picture"; 2 → "2 pictures". */
export function count(n: number, noun: string): string {
  return `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`
}

/**
 * A time in this machine's time zone, for a person: "2026-11-22 18:30:05 +08:00". The offset from UTC is part of it,
 * because people send such lines to other time zones. `at`: milliseconds since 1970, or ISO 8601.
 */
export function localTime(at: number | string): string {
  const moment = new Date(at)
  const east = -moment.getTimezoneOffset()
  const shifted = new Date(moment.getTime() + east * 60_000).toISOString()
  const offset = `${two(Math.floor(Math.abs(east) / 60))}:${two(Math.abs(east) % 60)}`
  return `${shifted.slice(0, -5).replace('T', ' ')} ${east < 0 ? '-' : '+'}${offset}`
}

/** ISO 8601, as `--json` has it. Null stays null. */
export function isoTime(ms: number): string
export function isoTime(ms: number | null): string | null
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

function two(n: number): string {
  return `${n}`.padStart(2, '0')
}
