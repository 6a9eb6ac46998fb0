import bytes from 'bytes'

/** 1536 → "1.5 KB". */
export function sizeInWords(size: number): string {
  return bytes.format(size, { unitSeparator: ' ', decimalPlaces: 1 }) ?? `${size} B`
}

/** 1234567 → "1,234,567". Only for whole numbers. Intl is not used, because its first use takes 9 ms. */
export function inDigits(n: number): string {
  return String(n).replace(/\B(?=(\d{3})+$)/g, ',')
}

export function foldersInDoubt(n: number): string {
  return n === 1 ? 'folder in doubt' : 'folders in doubt'
}

/** A text for the beginning of a sentence. The name albumd stays small there too. */
export function capital(text: string): string {
  return text.replace(/^(?!albumd\b)./, first => first.toUpperCase())
}

/** 1, "picture" → "1 picture"; 2 → "2 pictures". */
export function count(n: number, noun: string): string {
  return `${inDigits(n)} ${noun}${n === 1 ? '' : 's'}`
}

/** How a host alters the pictures of each format. Null: it is not known to alter any. */
export function alteredInWords(delivery: Readonly<Record<string, string>>): string | null {
  const altered = Object.entries(delivery).filter(([, how]) => how !== 'as sent')
  return altered.map(([format, how]) => `${format.toUpperCase()} ${how}`).join(', ') || null
}

/** [1128, "failed"] and [0, "held"] → "1,128 failed". A count of 0 is left out. */
export function countEach(
  ...counts: readonly (readonly [n: number, what: string, kind?: unknown])[]
): string[] {
  return counts.flatMap(([n, what]) => (n > 0 ? [`${inDigits(n)} ${what}`] : []))
}

type Counted = Record<
  | 'pending_uploads'
  | 'failed'
  | 'folders_in_doubt'
  | 'uncertain'
  | 'gone_on_host'
  | 'pending_deletions'
  | 'approved_deletions'
  | 'held_deletions',
  number
>

/** What is left to do in the mirrors, the gravest first. */
export function leftIn(mirrors: readonly Counted[]) {
  const sum = (of: keyof Counted) => mirrors.reduce((total, mirror) => total + mirror[of], 0)
  const inDoubt = sum('folders_in_doubt')
  return [
    [sum('pending_uploads'), 'to upload', null],
    [sum('failed') - inDoubt, 'failed', 'bad'],
    [inDoubt, foldersInDoubt(inDoubt), 'bad'],
    [sum('uncertain'), 'uncertain', 'warn'],
    [sum('gone_on_host'), 'gone from the host', 'warn'],
    [sum('pending_deletions') - sum('approved_deletions'), 'to delete', null],
    [sum('approved_deletions'), 'to delete as approved', null],
    [sum('held_deletions'), 'held', 'warn'],
  ] as const
}

const LEFT_OUT: Readonly<Record<string, readonly [one: string, many: string]>> = {
  format: ['of another format', 'of another format'],
  links: ['link or special file', 'links or special files'],
}

/** How many files are left out for a reason: "format", 2 → "2 of another format". Some reasons are shown as they are. */
export function countLeftOut(why: string, n: number): string {
  const [one, many] = LEFT_OUT[why] ?? [why, why]
  return `${inDigits(n)} ${n === 1 ? one : many}`
}

/** A rounded span of milliseconds: "80 s", "12 min", "3 h" or "2 days". */
export function spanInWords(ms: number): string {
  if (ms < 90_000) return `${Math.max(0, Math.ceil(ms / 1000))} s`
  if (ms < 90 * 60_000) return `${Math.round(ms / 60_000)} min`
  if (ms < 48 * 3_600_000) return `${Math.round(ms / 3_600_000)} h`
  return count(Math.round(ms / 86_400_000), 'day')
}

/** A moment (ISO 8601 or ms) by this machine's clock, with its zone for readers elsewhere: "2026-11-22 18:30:05 +08:00". */
export function localTime(at: number | string): string {
  const moment = new Date(at)
  const east = -moment.getTimezoneOffset()
  const shifted = new Date(moment.getTime() + east * 60_000).toISOString()
  const two = (n: number) => `${n}`.padStart(2, '0')
  const offset = `${two(Math.floor(Math.abs(east) / 60))}:${two(Math.abs(east) % 60)}`
  return `${shifted.slice(0, -5).replace('T', ' ')} ${east < 0 ? '-' : '+'}${offset}`
}

/** The first whole second that is not before this moment. When a person types it as shown, it means no earlier moment. */
export function localTimeFrom(at: number | string): string {
  return localTime(Math.ceil(new Date(at).getTime() / 1000) * 1000)
}

/** The moment in ISO 8601, for `--json`. Null stays null. */
export function isoTime(ms: number): string
export function isoTime(ms: number | null): string | null
export function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

/** The text with \u codes in place of control characters, invisible characters and characters that change the direction of
 * writing, because such characters could move the cursor of a terminal, forge a line, or make a name look like another name. */
export function printable(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/g,
    char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Quotes a word for a shell when the word needs quotes, so that people can copy commands: `it's` becomes `'it'\''s'`. */
export function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** A time as HH:MM in this machine's time zone, as in `uploads.hours`. */
export function clockTime(time: string): string {
  const at = new Date(time)
  return `${at.getHours()}`.padStart(2, '0').concat(':', `${at.getMinutes()}`.padStart(2, '0'))
}
