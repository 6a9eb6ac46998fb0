import { extname } from 'node:path'
import { count } from '../../daemon/report/quantities.ts'
import { type Html, html } from './html.ts'

/** Rows that are seen at once, and those that are there to be unfolded. The counts tell of the others. */
const SEEN = 8
export const SHOWN = 50

/** The rows of a long list. `all`: how many there are. `others`: the command that names those that are not shown. */
export function entries(rows: readonly Html[], all: number, others: string): Html {
  const more = rows.slice(SEEN)
  const left = all - rows.length
  return html`<ul class="entries">${rows.slice(0, SEEN)}</ul>
${
  more.length > 0 &&
  html`<details><summary>${more.length} more</summary><ul class="entries">${more}</ul></details>`
}${left > 0 && html`<p class="aside">and ${left.toLocaleString('en')} more; “${others}” names them</p>`}`
}

/** What a page's button asks for. */
export type ButtonCommand = 'retry' | 'approve' | 'discard' | 'pause' | 'resume'

/** What a button may have beside its label. */
interface ButtonParts {
  /** The file that is meant, absolute; null: all. */
  path?: string | null
  /** So many there are, as its reader sees; null: that does not matter. */
  most?: number | null
  /** What a screen reader reads beside the label. */
  about?: string | null
  kind?: 'bad' | null
}

/** A button that asks for a command. `token` shows that it was this page. */
export function commandButton(
  token: string,
  command: ButtonCommand,
  label: string,
  { path = null, most = null, about = null, kind = null }: ButtonParts = {},
): Html {
  // As JSON: a browser would change line breaks in a name.
  return html`<form method="post" action="/commands/${command}"><input type="hidden" name="token" value="${token}">${
    path !== null && html`<input type="hidden" name="path" value="${JSON.stringify(path)}">`
  }${most !== null && html`<input type="hidden" name="most" value="${most}">`}<button data-kind="${kind}">${label}${about !== null && html`<span class="unseen"> ${about}</span>`}</button></form>`
}

/** A picture's frame. What the browser can't show, or is not given, leaves the name of its format. */
export function thumbnail(address: string, name: string): Html {
  return html`<span class="thumbnail"><span aria-hidden="true">${extname(name).slice(1).toUpperCase()}</span><img src="${address}" alt="" loading="lazy"></span>`
}

/** In UTC; the script shows it by the reader's clock. `at`: milliseconds since 1970, or ISO 8601. */
export function time(at: number | string): Html {
  const iso = new Date(at).toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`
}

/** Milliseconds → "3 h", "12 min". Roughly: nobody plans by it. */
export function span(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / 60_000))
  if (minutes < 90) return `${minutes} min`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} h` : count(Math.round(hours / 24), 'day')
}

export function albumInWords(album: string): string {
  return album === '' ? "the host's root" : album
}
