import bytes from 'bytes'

/** 1536 → "1.5 KB". */
export function sizeInWords(size: number): string {
  return bytes.format(size, { unitSeparator: ' ', decimalPlaces: 1 }) ?? `${size} B`
}

/** 1, "picture" → "1 picture"; 2 → "2 pictures". */
export function count(n: number, noun: string): string {
  return `${n.toLocaleString('en')} ${noun}${n === 1 ? '' : 's'}`
}

/** ISO 8601, as `--json` has it. Null stays null. */
export function isoTime(ms: number): string
export function isoTime(ms: number | null): string | null
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}
