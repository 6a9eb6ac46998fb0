import type { Facts } from '../facts.ts'
import { type Html, html } from '../html.ts'

const KINDS = { debug: null, info: null, warn: 'warn', error: 'bad' } as const

/** The log's last lines. */
export function log({ log }: Facts): Html {
  if (log.length === 0) return html`<h2>Log</h2><p class="aside">Nothing yet.</p>`
  return html`<h2>Log</h2>
<ol class="log" tabindex="0" aria-label="The log's last lines, the latest first">${log.map(
    ({ time, level, text }) =>
      html`<li data-kind="${KINDS[level]}"><time datetime="${time}" data-clock>${time.slice(11, 19)}</time> <span class="tone">${level}</span> ${text}</li>`,
  )}</ol>`
}
