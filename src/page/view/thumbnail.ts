import { extname } from 'node:path'
import { type Html, html } from '../html.ts'

/** A picture's frame. What the browser can't show, or is not given, leaves the name of its format. */
export function thumbnail(address: string, name: string): Html {
  return html`<span class="thumbnail"><span aria-hidden="true">${extname(name).slice(1).toUpperCase()}</span><img src="${address}" alt="" loading="lazy"></span>`
}
