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
export type Shown = Html | string | number | null | false | readonly Shown[]

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

/** An attribute `id` for a path. It must not hold a space. */
export function idOf(what: string, path: string): string {
  return `${what}-${encodeURIComponent(path.toWellFormed())}`
}

/** The pieces that are not empty, with a dot between them. */
export function dotted(...pieces: Shown[]): Html | null {
  const [first, ...more] = pieces.filter(piece => piece !== null && piece !== false && piece !== '')
  return first === undefined ? null : html`<p class="dim">${first}${more.map(piece => html` · ${piece}`)}</p>`
}

/** A list of some rows. `all`: how many rows there are. `others`: the command that shows all of them. */
export function entries(rows: readonly Html[], all: number, others: string): Html {
  const left = all - rows.length
  return html`<ul>${rows}</ul>${left > 0 && html`<p class="dim">and ${inDigits(left)} more; “${others}” shows them</p>`}`
}

interface Form {
  command: 'retry' | 'approve' | 'discard' | 'resume'
  label: string
  /** Undefined: the command is for all files. */
  path?: string | undefined
  /** A digest of the deletions that the page shows, so that the button decides about these alone. */
  seen?: string
  /** What a screen reader reads after the button's label. */
  about?: string
  kind?: 'keep' | 'bad'
}

/** A button that gives a command. `token` proves that this page sent it. */
export function commandButton(token: string, { command, label, path, seen, about, kind }: Form): Html {
  // The path is sent as JSON, because a browser would change line breaks in a name.
  return html`<form method="post" action="/commands/${command}"><input type="hidden" name="token" value="${token}">${
    path !== undefined && html`<input type="hidden" name="path" value="${JSON.stringify(path)}">`
  }${seen !== undefined && html`<input type="hidden" name="seen" value="${seen}">`}<button class="${kind ?? null}">${label}${about !== undefined && html`<span class="unseen"> ${about}</span>`}</button></form>`
}

/** A button that first asks whether its reader means it. `id`: of the question; each needs another one. */
export function askingButton(token: string, id: string, label: string, question: string, form: Form): Html {
  const about = html`<span class="unseen"> ${form.about ?? null}</span>`
  return html`<button class="${form.kind ?? null}" popovertarget="${id}">${label}${about}</button>
<div id="${id}" popover role="dialog" aria-label="${question}"><p>${question}</p>
<div class="row">${commandButton(token, form)}<button popovertarget="${id}" popovertargetaction="hide">Cancel</button></div></div>`
}

/** A small picture of an image, with its name. `image`: its id in the records. */
export function thumbnail(image: number, name: string): Html {
  return html`<img src="/thumbnails/${image}" alt="${name}" title="${name}" loading="lazy">`
}

/** A time in UTC. The page's script changes UTC to the reader's local time. `at`: milliseconds since 1970, or ISO 8601. */
export function time(at: number | string): Html {
  const iso = new Date(at).toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`
}

export function albumInWords(album: string): string {
  return album === '' ? "the host's root" : album
}
