import { type Html, html } from '../html.ts'

/** What a page's button asks for. */
export type ButtonDeed = 'retry' | 'approve' | 'discard' | 'pause' | 'resume'

/**
 * A button that asks for a deed. `token` shows that it was this page. `path`: the file that is meant, absolute; null: all.
 * It goes as JSON, for a browser would change line breaks in a name.
 */
export function deedButton(
  token: string,
  deed: ButtonDeed,
  label: string,
  {
    path = null,
    about = null,
    kind = '',
  }: { path?: string | null; about?: string | null; kind?: string } = {},
): Html {
  return html`<form method="post" action="/deeds/${deed}"><input type="hidden" name="token" value="${token}">${
    path !== null && html`<input type="hidden" name="path" value="${JSON.stringify(path)}">`
  }<button class="${kind}">${label}${about !== null && html`<span class="unseen"> ${about}</span>`}</button></form>`
}
