import { fullPath } from '../../sync/tree-path.ts'
import type { Facts, Recorded } from '../facts.ts'
import { type Html, html } from '../html.ts'
import { time } from '../words.ts'
import { entries, SHOWN } from './entries.ts'
import { deedButton } from './form.ts'

/** What could not be mirrored. `token`: for its buttons. */
export function failures({ recorded }: Facts, token: string): Html | null {
  if (recorded === null || recorded.status.failures.length === 0) return null
  const { failures, mirrors } = recorded.status
  const rows = failures.slice(0, SHOWN).map(failure => row(failure, token))
  const all = Math.max(
    failures.length,
    mirrors.reduce((sum, { failed, uncertain }) => sum + failed + uncertain, 0),
  )
  return html`<div class="row"><h2 class="wide">Not on the host <span class="aside">${all.toLocaleString('en')}</span></h2>
${deedButton(token, 'retry', 'Retry all')}</div>
${entries(rows, all, 'albumd status')}`
}

function row(
  { mirror, path, code, message, next_attempt_at }: Recorded['status']['failures'][number],
  token: string,
): Html {
  const full = fullPath(mirror, path)
  return html`<li class="row" id="failure-${full}"><div class="wide"><b class="name" title="${full}">${path === '' ? mirror : path}</b>
<p>${message} <code>${code}</code></p>${
    next_attempt_at !== null && html`<p class="aside">It is tried again at ${time(next_attempt_at)}.</p>`
  }</div>
${deedButton(token, 'retry', 'Retry', { path: full, about: path })}</li>`
}
