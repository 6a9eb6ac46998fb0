/** HTML in which all inserted values are escaped. */
export class Html {
  readonly text: string

  /** `text` is not escaped. Use `html` for values. */
  constructor(text: string) {
    this.text = text
  }

  toString(): string {
    return this.text
  }
}

/** False and null show nothing, so that a template can hold a condition. */
type Shown = Html | string | number | null | false | readonly Shown[]

/** A piece of HTML. Inserted values are escaped, for text and for attributes in double quotes. Only Html is inserted as it is. */
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
 * Also shows control characters, invisible characters and those that change the direction of writing as \\u codes,
 * because they could make a name look like another name.
 */
function escaped(text: string): string {
  return text
    .replace(/[&<>"'`]/g, char => `&#${char.charCodeAt(0)};`)
    .replace(
      /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]/g,
      char => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
}
