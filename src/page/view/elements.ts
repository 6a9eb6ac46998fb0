import { extname } from 'node:path'
import { inDigits, printable } from '../../words/text.ts'

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

/** A piece of HTML. Inserted values are escaped for text and for attributes in double quotes. Html is inserted as it is. */
export function html(parts: TemplateStringsArray, ...shown: Shown[]): Html {
  return new Html(parts.map((part, index) => part + written(shown[index] ?? null)).join(''))
}

function written(shown: Shown): string {
  if (shown === null || shown === false) return ''
  if (shown instanceof Html) return shown.text
  if (typeof shown === 'object') return shown.map(written).join('')
  return escaped(String(shown))
}

function escaped(text: string): string {
  return printable(text.replace(/[&<>"'`]/g, char => `&#${char.charCodeAt(0)};`))
}

/** How many of a name's last characters stay when the name is cut. A camera's number and the format are among them. */
const KEPT = 10

/** A name on one line. Where the line is too short, the name is cut in its middle, because names often differ at their end. */
export function cutName(name: string, title: string): Html {
  const chars = Array.from(name)
  const kept = chars.length > 2 * KEPT ? KEPT : chars.length
  return html`<b class="name" title="${title}"><span>${chars.slice(0, -kept).join('')}</span><span>${chars.slice(-kept).join('')}</span></b>`
}

/** How many rows of a list the page shows at first. */
const SEEN = 8
/** How many rows it shows after a person has unfolded the list. Of further rows it tells only the number. */
export const SHOWN = 50

/** A long list. `all`: how many rows the records have. `others`: the command that shows all rows. */
export function entries(rows: readonly Html[], all: number, others: string): Html {
  const more = rows.slice(SEEN)
  const left = all - rows.length
  return html`<ul class="entries">${rows.slice(0, SEEN)}</ul>
${
  more.length > 0 &&
  html`<details><summary>${more.length} more</summary><ul class="entries">${more}</ul></details>`
}${left > 0 && html`<p class="aside">and ${inDigits(left)} more; “${others}” shows them</p>`}`
}

/** A button that asks first: it unfolds the question, and the button that answers it. `about`: what a screen reader reads
 * after the label. `question`: what would happen, to how many and to which. */
export function asksFirst(label: string, about: string, question: string, answer: Html): Html {
  return html`<details class="asks"><summary>${label}…<span class="unseen"> ${about}</span></summary>
<p>${question}</p>${answer}</details>`
}

interface ButtonParts {
  /** The absolute path of the file that the command is for. Undefined: the command is for all files. */
  path?: string
  /** How many held deletions the reader of the page sees. */
  most?: number
  /** What a screen reader reads after the button's label. */
  about?: string
  kind?: 'bad'
}

/** A button that gives a command. `token` proves that this page sent it. */
export function commandButton(
  token: string,
  command: 'retry' | 'approve' | 'discard' | 'resume',
  label: string,
  { path, most, about, kind }: ButtonParts = {},
): Html {
  // The path is sent as JSON, because a browser would change line breaks in a name.
  return html`<form method="post" action="/commands/${command}"><input type="hidden" name="token" value="${token}">${
    path !== undefined && html`<input type="hidden" name="path" value="${JSON.stringify(path)}">`
  }${most !== undefined && html`<input type="hidden" name="most" value="${most}">`}<button data-kind="${kind ?? null}">${label}${about !== undefined && html`<span class="unseen"> ${about}</span>`}</button></form>`
}

/** A picture's frame. When the browser can't show the picture, the frame shows the name of the format. */
export function thumbnail(address: string, name: string): Html {
  return html`<span class="thumbnail"><span aria-hidden="true">${extname(name).slice(1).toUpperCase()}</span><img src="${address}" alt="" loading="lazy"></span>`
}

/** A time in UTC. The page's script changes UTC to the reader's local time. `at`: milliseconds since 1970, or ISO 8601. */
export function time(at: number | string): Html {
  const iso = new Date(at).toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`
}

export function albumInWords(album: string): string {
  return album === '' ? "the host's root" : album
}
