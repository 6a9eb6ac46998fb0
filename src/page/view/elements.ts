import { extname } from 'node:path'
import { count } from '../../daemon/report/amounts.ts'
import { type Html, html } from './html.ts'

/** How many rows are seen at once, and how many there are after unfolding. A count tells of further rows. */
const SEEN = 8
export const SHOWN = 50

/** The rows of a long list. `all`: how many there are. `others`: the command that shows all of them. */
export function entries(rows: readonly Html[], all: number, others: string): Html {
  const more = rows.slice(SEEN)
  const left = all - rows.length
  return html`<ul class="entries">${rows.slice(0, SEEN)}</ul>
${
  more.length > 0 &&
  html`<details><summary>${more.length} more</summary><ul class="entries">${more}</ul></details>`
}${left > 0 && html`<p class="aside">and ${left.toLocaleString('en')} more; “${others}” shows them</p>`}`
}

/** The commands of the page's buttons. */
export type ButtonCommand = 'retry' | 'approve' | 'discard' | 'pause' | 'resume'

/** The optional parts of a button. */
interface ButtonParts {
  /** The absolute path of the file that is meant. Null: all files. */
  path?: string | null
  /** How many the reader of the page sees. Null: the number does not matter. */
  most?: number | null
  /** Read by a screen reader after the label. */
  about?: string | null
  kind?: 'bad' | null
}

/** A button that gives a command. `token` proves that this page sent it. */
export function commandButton(
  token: string,
  command: ButtonCommand,
  label: string,
  { path = null, most = null, about = null, kind = null }: ButtonParts = {},
): Html {
  // The path is sent as JSON, because a browser would change line breaks in a name.
  return html`<form method="post" action="/commands/${command}"><input type="hidden" name="token" value="${token}">${
    path !== null && html`<input type="hidden" name="path" value="${JSON.stringify(path)}">`
  }${most !== null && html`<input type="hidden" name="most" value="${most}">`}<button data-kind="${kind}">${label}${about !== null && html`<span class="unseen"> ${about}</span>`}</button></form>`
}

/** A picture's frame. It shows the name of the format where the browser can't show the picture. */
export function thumbnail(address: string, name: string): Html {
  return html`<span class="thumbnail"><span aria-hidden="true">${extname(name).slice(1).toUpperCase()}</span><img src="${address}" alt="" loading="lazy"></span>`
}

/** A time in UTC, which the page's script changes to the reader's local time. `at`: milliseconds since 1970, or ISO 8601. */
export function time(at: number | string): Html {
  const iso = new Date(at).toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`
}

/** A rounded span of milliseconds, such as "3 h" or "12 min". */
export function span(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / 60_000))
  if (minutes < 90) return `${minutes} min`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} h` : count(Math.round(hours / 24), 'day')
}

export function albumInWords(album: string): string {
  return album === '' ? "the host's root" : album
}
