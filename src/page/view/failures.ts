import { count } from '../../daemon/quantities.ts'
import { fullPath } from '../../sync/tree-path.ts'
import type { Facts, Failure } from '../facts.ts'
import { type Html, html } from '../html.ts'
import { time } from '../words.ts'
import { deedButton } from './form.ts'

/** What could not be mirrored. `token`: for its buttons. */
export function failures({ recorded }: Facts, token: string): Html | null {
  if (recorded === null || recorded.failures.length === 0) return null
  const { failures, status } = recorded
  const all = Math.max(
    failures.length,
    status.mirrors.reduce((sum, { failed, uncertain }) => sum + failed + uncertain, 0),
  )
  return html`<div class="head"><h2>Not on the host <span class="aside">${all.toLocaleString('en')}</span></h2>
${deedButton(token, 'retry', 'Retry all')}</div>
<ul class="rows">${failures.map(failure => row(failure, token))}</ul>
${all > failures.length && html`<p class="aside">and ${count(all - failures.length, 'more picture')}; “albumd status” lists them</p>`}`
}

function row({ mirror, path, code, message, next_attempt_at }: Failure, token: string): Html {
  const full = fullPath(mirror, path)
  return html`<li id="failure-${full}"><div><b class="name" title="${full}">${path === '' ? mirror : path}</b>
<p>${message} <code>${code}</code></p>${
    next_attempt_at !== null && html`<p class="aside">It is tried again at ${time(next_attempt_at)}.</p>`
  }</div>
<div class="deeds">${deedButton(token, 'retry', 'Retry', { path: full, about: path })}</div></li>`
}
