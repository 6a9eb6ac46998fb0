import type { MirrorStatus } from '../../daemon/report/status.ts'
import { count, inDigits, spanInWords } from '../../words/text.ts'
import type { Recorded } from '../facts.ts'
import { albumInWords, type Html, html, time } from './elements.ts'

const KINDS = {
  idle: 'good',
  scanning: 'busy',
  syncing: 'busy',
  paused: 'warn',
  guarded: 'bad',
  blocked: 'bad',
} as const

const LEFT_OUT = {
  format: 'of another format',
  ignored: 'by your rules',
  hidden: 'hidden',
  empty: 'empty',
  links: 'symbolic links',
} as const satisfies Record<keyof MirrorStatus['left_out'], string>

/** The state of each mirror. */
export function mirrors({ status: { mirrors } }: Recorded): Html {
  return html`<h2>${mirrors.length === 1 ? 'Mirror' : 'Mirrors'}</h2>
<ul class="list">${mirrors.map(mirror)}</ul>`
}

function mirror(of: MirrorStatus): Html {
  const { folder, album, state, reason, files, synced, linked, oldest_unsynced } = of
  return html`<li id="mirror-${folder}">
<p><span class="chip" data-kind="${KINDS[state]}">${state}</span> <b>${folder}</b> → ${albumInWords(album)}</p>
${reason !== null && state !== 'paused' && html`<p data-kind="bad"><span class="tone">${reason}</span></p>`}
${files === 0 ? html`<p>There is no picture in it.</p>` : progress(synced + linked, files)}
${chips(of)}
${oldest_unsynced !== null && html`<p class="aside">The oldest waiting picture was found ${time(oldest_unsynced)}.</p>`}
${leftOut(of)}</li>`
}

function progress(there: number, files: number): Html {
  return html`<p><b>${inDigits(there)}</b> of ${count(files, 'picture')} on the host</p>
<progress max="${files}" value="${there}" aria-label="on the host"></progress>`
}

function chips(mirror: MirrorStatus): Html | null {
  const counts = [
    ['to upload', mirror.pending_uploads, null],
    ['failed', mirror.failed, 'bad'],
    ['uncertain', mirror.uncertain, 'warn'],
    ['linked, bytes not compared yet', mirror.linked, null],
    ['outside their albums', mirror.flat, null],
    ['to delete', mirror.pending_deletions, null],
    ['held', mirror.held_deletions, 'warn'],
  ] as const
  const shown = counts.filter(([, n]) => n > 0)
  if (shown.length === 0) return null
  return html`<ul class="row">${shown.map(
    ([what, n, kind]) => html`<li class="chip" data-kind="${kind}">${inDigits(n)} ${what}</li>`,
  )}</ul>`
}

function leftOut({ left_out, left_out_with_image }: MirrorStatus): Html | null {
  const kinds = Object.entries(left_out).filter(([, n]) => n > 0)
  if (kinds.length === 0 && left_out_with_image === 0) return null
  const keep = left_out_with_image > 0 && `; of these, ${inDigits(left_out_with_image)} keep an image`
  const counts = kinds.map(([why, n]) => `${inDigits(n)} ${LEFT_OUT[why as keyof typeof LEFT_OUT]}`)
  return html`<p class="aside">Left out: ${counts.join(', ')}${keep}.</p>`
}

/** Today's quota, and what the host refuses. `now`: milliseconds since 1970. */
export function quota({ status: { quota, blocks } }: Recorded, now: number): Html {
  const { plan, limit, used, reserve } = quota
  return html`<h2>Quota</h2>
<p><b>${inDigits(used)}</b> of ${inDigits(limit)} uploads today <span class="aside">(${plan})</span></p>
<progress max="${Math.max(1, limit)}" value="${Math.min(used, limit)}" aria-label="of today's uploads"></progress>
<p class="aside">${ends(quota, now)}${
    reserve > 0 && !quota.exhausted && html` ${inDigits(reserve)} are kept for new pictures.`
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
  if (!exhausted) return html`${inDigits(Math.max(0, limit - used))} left by albumd's count.`
  if (resumes_at !== null)
    return html`Used up until ${time(resumes_at)}, for about ${spanInWords(Date.parse(resumes_at) - now)}.`
  return html`Used up${next_probe_at !== null && html`; the host is asked again at ${time(next_probe_at)}`}.`
}
