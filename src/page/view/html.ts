/** HTML that is safe to show: what was put into it is escaped. */
export class Html {
  readonly text: string

  /** `text` is taken as it is. Use `html`. */
  constructor(text: string) {
    this.text = text
  }

  toString(): string {
    return this.text
  }
}

/** False and null show nothing, so that a condition can stand in a template. */
type Shown = Html | string | number | null | false | readonly Shown[]

/** A piece of HTML. Whatever is put in is escaped, for text and for attributes in double quotes; only Html goes in as it is. */
export function html(parts: TemplateStringsArray, ...shown: Shown[]): Html {
  return new Html(parts.map((part, index) => part + written(shown[index] ?? null)).join(''))
}

function written(shown: Shown): string {
  if (shown === null || shown === false) return ''
  if (shown instanceof Html) return shown.text
  if (typeof shown === 'object') return shown.map(written).join('')
  return escaped(String(shown))
}

/**
 * The characters that turn the direction of writing, those that nobody sees, and other control characters are shown as
 * what they are: they would make a name look like another one.
 */
function escaped(text: string): string {
  return text
    .replace(/[&<>"'`]/g, char => `&#${char.charCodeAt(0)};`)
    .replace(
      /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/g,
      char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
}
