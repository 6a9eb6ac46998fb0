import { FORMATS, formatOfName } from '../../protocol/formats.ts'

/** A name without what hosts change in it. `_` stands for any character that is no letter or digit. */
interface Form {
  stem: string
  /** The usual extension of the picture's format; '' when the name ends with none. */
  extension: string
}

/** The forms of a listed name: with the number at its end, and without it. */
export type ListedForms = readonly Form[]

/** How many characters a host leaves at least when it cuts names. Otherwise `a` would be the beginning of many names. */
const CUT_LEAST = 32

const ESCAPED = /&(?:#(\d{1,6})|#x([\da-f]{1,5})|(amp|lt|gt|quot|apos));/gi
const CHARACTERS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
const NUMBERED = /[ _]?\(\d{1,4}\)$/

/** Returns a function that tells whether a host may have made a listed name from `name`: by lower case, another Unicode form,
 * HTML escapes, `_` for characters, a cut, a number such as " (1)", or another extension of the format. */
export function changesOf(name: string): (listed: string | ListedForms) => boolean {
  const { stem, extension } = formOf(name)
  const whole = `${stem}_${extension}`
  const isMade = ({ stem: made, extension: ending }: Form) =>
    ((ending === extension || ending === '') && becomes(stem, made)) ||
    (ending === '' && made.length >= CUT_LEAST && becomes(whole, made))
  return listed => (typeof listed === 'string' ? formsOf(listed) : listed).some(isMade)
}

export function formsOf(listed: string): ListedForms {
  return [formOf(listed), formOf(listed, true)]
}

/** Whether `made` is `stem`, or the beginning of a long `stem`. `_` in it stands for any character. */
function becomes(stem: string, made: string): boolean {
  if (made.length !== stem.length && (made.length < CUT_LEAST || made.length > stem.length)) return false
  for (let at = 0; at < made.length; at++) if (made[at] !== '_' && made[at] !== stem[at]) return false
  return true
}

function formOf(name: string, unnumbered = false): Form {
  const format = formatOfName(name)
  const end = format === null ? name.length : name.lastIndexOf('.')
  const text = unescaped(name.slice(0, end)).normalize('NFKC').toLowerCase().trim()
  const stem = (unnumbered ? text.replace(NUMBERED, '') : text).replace(/[^\p{L}\p{M}\p{N}]/gu, '_')
  return { stem, extension: format === null ? '' : FORMATS[format].extensions[0] }
}

function unescaped(name: string): string {
  return name.replace(ESCAPED, (_, decimal, hexadecimal, word) =>
    word
      ? CHARACTERS[word.toLowerCase()]!
      : String.fromCodePoint(decimal ? Number(decimal) : Number.parseInt(hexadecimal, 16)),
  )
}
