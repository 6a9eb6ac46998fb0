import type { Facts, Recorded } from '../facts.ts'
import { type Html, html } from '../html.ts'
import { span, time } from '../words.ts'

/** The day's quota, and what the host refuses. `now`: milliseconds since 1970. */
export function quota({ recorded }: Facts, now: number): Html | null {
  if (recorded === null) return null
  const { quota, blocks } = recorded.status
  const { plan, limit, used, reserve } = quota
  return html`<h2>Quota</h2>
<p><b>${used.toLocaleString('en')}</b> of ${limit.toLocaleString('en')} uploads today <span class="aside">(${plan})</span></p>
<progress max="${Math.max(1, limit)}" value="${Math.min(used, limit)}" aria-label="of today's uploads"></progress>
<p class="aside">${ends(quota, now)}${
    reserve > 0 && !quota.exhausted && html` ${reserve.toLocaleString('en')} are kept for new pictures.`
  }</p>
${
  blocks.length > 0 &&
  html`<ul class="list">${blocks.map(
    ({ endpoint, code, message, said_at }) =>
      html`<li>The host refuses ${endpoint}: ${message} <code>${code}</code> <span class="aside">${time(said_at)}</span></li>`,
  )}</ul>`
}`
}

function ends(
  { exhausted, resumes_at, next_probe_at, limit, used }: Recorded['status']['quota'],
  now: number,
) {
  if (!exhausted) return html`${Math.max(0, limit - used).toLocaleString('en')} left by albumd's count.`
  if (resumes_at !== null)
    return html`Used up until ${time(resumes_at)}, for about ${span(Date.parse(resumes_at) - now)}.`
  return html`Used up${next_probe_at !== null && html`; the host is asked again at ${time(next_probe_at)}`}.`
}
