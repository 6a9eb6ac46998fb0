import { type Html, html } from '../html.ts'

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
