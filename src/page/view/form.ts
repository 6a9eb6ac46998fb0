import { type Html, html } from '../html.ts'

/** What a page's button asks for. */
export type ButtonDeed = 'retry' | 'approve' | 'discard' | 'pause' | 'resume'

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

/** A button that asks for a deed. `token` shows that it was this page. */
export function deedButton(
  token: string,
  deed: ButtonDeed,
  label: string,
  { path = null, most = null, about = null, kind = null }: ButtonParts = {},
): Html {
  // As JSON: a browser would change line breaks in a name.
  return html`<form method="post" action="/deeds/${deed}"><input type="hidden" name="token" value="${token}">${
    path !== null && html`<input type="hidden" name="path" value="${JSON.stringify(path)}">`
  }${most !== null && html`<input type="hidden" name="most" value="${most}">`}<button data-kind="${kind}">${label}${about !== null && html`<span class="unseen"> ${about}</span>`}</button></form>`
}
