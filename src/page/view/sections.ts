import type { PendingDeletion } from '../../daemon/commands/deletions.ts'
import { stateAlert } from '../../daemon/notify/health.ts'
import type { LatestPicture } from '../../daemon/report/mirrored-pictures.ts'
import type { FailureStatus, MirrorStatus } from '../../daemon/report/status.ts'
import { fullPath, nameOf } from '../../sync/tree-path.ts'
import { inWords, WHY_IN_ESCROW } from '../../words/reasons.ts'
import { count, inDigits, sizeInWords, spanInWords } from '../../words/text.ts'
import type { PageCommand } from '../commands.ts'
import type { Facts, Recorded } from '../facts.ts'
import type { UnderWay } from '../heard.ts'
import { albumInWords, commandButton, entries, type Html, html, SHOWN, thumbnail, time } from './elements.ts'

/** The pictures that could not be mirrored. `token`: for the buttons. */
export function failures({ status: { failures, accepted, mirrors } }: Recorded, token: string): Html | null {
  if (failures.length === 0) return ignored(accepted, mirrors, token)
  const rows = failures.slice(0, SHOWN).map(failure => failureRow(failure, token))
  const all = Math.max(
    failures.length,
    mirrors.reduce((sum, { failed, uncertain }) => sum + failed + uncertain, 0),
  )
  return html`<div class="row"><h2 class="wide">Not on the host <span class="aside">${inDigits(all)}</span></h2>
${commandButton(token, 'retry', 'Retry all')}</div>
${entries(rows, all, 'albumd status')}${ignored(accepted, mirrors, token)}`
}

/** The failures that a person accepted. */
function ignored(
  accepted: readonly FailureStatus[],
  mirrors: readonly MirrorStatus[],
  token: string,
): Html | null {
  if (accepted.length === 0) return null
  const all = mirrors.reduce((sum, mirror) => sum + mirror.accepted, 0)
  const rows = accepted.slice(0, SHOWN).map(failure => failureRow(failure, token))
  return html`<details><summary>${count(all, 'failure')} ignored</summary>
${entries(rows, all, 'albumd accept --list')}</details>`
}

function failureRow(
  { mirror, path, code, message, next_attempt_at, accepted_at, acceptable }: FailureStatus,
  token: string,
): Html {
  const full = fullPath(mirror, path)
  return html`<li class="row" id="failure-${full}"><div class="wide"><b class="name" title="${full}">${path === '' ? mirror : path}</b>
<p>${message} <code>${code}</code></p>${
    next_attempt_at !== null && html`<p class="aside">It is tried again at ${time(next_attempt_at)}.</p>`
  }</div>
<div class="row">${commandButton(token, 'retry', 'Retry', { path: full, about: path })}${
    accepted_at !== null
      ? commandButton(token, 'unaccept', 'Do not ignore', { path: full, about: path })
      : acceptable && commandButton(token, 'accept', 'Ignore', { path: full, about: path })
  }</div></li>`
}

/** The deletions that wait until a person decides. `token`: for the buttons. */
export function held({ held, status: { mirrors } }: Recorded, token: string): Html | null {
  if (held.length === 0) return null
  const all = Math.max(
    held.length,
    mirrors.reduce((sum, { held_deletions }) => sum + held_deletions, 0),
  )
  const images = count(all, 'image')
  const rows = held.map(deletion => heldRow(deletion, token))
  return html`<h2>Held deletions <span class="aside">${inDigits(all)}</span></h2>
<p>Unusually many pictures are gone here, so their images wait for your decision. <b>Approve</b> deletes an image for
good; <b>discard</b> drops the deletion and keeps the image on the host.</p>
<div class="row">${commandButton(token, 'discard', 'Discard all', { most: all })}
<details data-kind="bad"><summary>Approve all…</summary><p>This deletes ${images} on the host. They can't be restored from there.</p>
${commandButton(token, 'approve', `Delete ${images}`, { most: all, kind: 'bad' })}</details></div>
${entries(rows, all, 'albumd deletions list')}`
}

function heldRow({ mirror, path, reason, since, image_id }: PendingDeletion, token: string): Html {
  const full = fullPath(mirror, path)
  return html`<li class="row" id="held-${image_id}"><div class="wide"><b class="name" title="${full}">${path}</b>
<p class="aside">${inWords(WHY_IN_ESCROW[reason])}, since ${time(since)}</p></div>
<div class="row">${commandButton(token, 'approve', 'Approve', { path: full, about: path, kind: 'bad' })}
${commandButton(token, 'discard', 'Discard', { path: full, about: path })}</div></li>`
}

export function attention({ recorded, stateProblem }: Facts): Html | null {
  const alerts = stateProblem === null ? (recorded?.alerts ?? []) : [stateAlert(stateProblem)]
  if (alerts.length === 0) return null
  const few = alerts.slice(0, 8)
  const more = alerts.length - few.length
  return html`<h2>${alerts.length === 1 ? 'This needs you' : `${count(alerts.length, 'thing')} need you`}</h2>
<ul>${few.map(({ code, message }) => html`<li>${message} <code>${code}</code></li>`)}${
    more > 0 && html`<li>and ${more} more</li>`
  }</ul>`
}

const STATES = {
  waits: ['waits until the current work is done', null],
  'under way': ['is under way', 'busy'],
  done: ['is done', 'good'],
  refused: ["can't be done", 'bad'],
} as const

export function commands(commands: readonly PageCommand[]): Html | null {
  if (commands.length === 0) return null
  return html`<ul>${commands.map(({ id, what, state, why }) => {
    const [words, kind] = STATES[state]
    return html`<li id="command-${id}" data-kind="${kind}"><b class="tone">${what}</b> ${words}${why !== null && `: ${why}`}</li>`
  })}</ul>`
}

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
  links: 'links and special files',
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
    ['failed and ignored', mirror.accepted, null],
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
export function quota({ status: { quota, blocks, store, machines } }: Recorded, now: number): Html {
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
}${
  store !== null &&
  store.away !== null &&
  html`<p class="aside">The store that the machines share is away since ${time(store.away.since)}: ${store.away.message}. Uploads go on at account.when_away of the rate.</p>`
}${
  machines.length > 0 &&
  html`<ul class="list">${machines.map(
    ({ name, is_this, seen, albums, used_today, rate }) =>
      html`<li>${name}${is_this && ' (this machine)'}: ${albums.map(album => album || "the host's root").join(', ') || 'no album'}; ${inDigits(used_today)} uploads today, ${inDigits(rate)} requests a second <span class="aside">${time(seen)}</span></li>`,
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

const UNDER_WAY_SHOWN = 8

/** The pictures under way, the upload rate, and how long the rest will take. `now`: milliseconds since 1970. */
export function underWay({ status }: Recorded, { underWay, rate }: Facts, now: number): Html {
  const few = underWay.slice(0, UNDER_WAY_SHOWN)
  const more = underWay.length - few.length
  return html`<h2>Uploading</h2>
<p>${pace(status, underWay, rate, now)}</p>
${few.length > 0 && html`<ul class="list sending">${few.map(sending)}</ul>`}${
  more > 0 && html`<p class="aside">and ${more} more</p>`
}`
}

function pace(
  { backlog, paused, uploads_wait_until, quota }: Recorded['status'],
  sending: readonly UnderWay[],
  rate: number,
  now: number,
): Html {
  if (paused !== null)
    return html`Paused${paused.until !== null && html` until ${time(paused.until)}`}: nothing is sent or deleted.`
  if (backlog.pictures === 0 && sending.length === 0) return html`Nothing waits.`
  const bytes = Math.max(
    0,
    sending.reduce((left, { sent }) => left - sent, backlog.bytes),
  )
  const speed = sending.length > 0 && rate > 0 && html` at <b>${sizeInWords(Math.round(rate))}/s</b>`
  const waiting = html`<b>${count(backlog.pictures, 'picture')}</b> (${sizeInWords(bytes)}) to go${speed}`
  if (uploads_wait_until !== null) return html`${waiting}; uploads begin at ${time(uploads_wait_until)}`
  if (quota.exhausted) return html`${waiting}; today's quota is used up`
  return html`${waiting}${timeLeft({ ...backlog, bytes }, rate, now)}`
}

function timeLeft(
  { bytes, days, per_day, done_by }: Recorded['status']['backlog'],
  rate: number,
  now: number,
) {
  if (days > 0) return html`, about <b>${count(days, 'day')}</b> at ${inDigits(per_day)} a day`
  if (rate > 0 && bytes > 0) return html`, about <b>${spanInWords((bytes / rate) * 1000)}</b> left`
  return done_by !== null && html`, about <b>${spanInWords(Date.parse(done_by) - now)}</b> left`
}

function sending({ id, mirror, path, size, sent }: UnderWay): Html {
  const name = nameOf(path)
  return html`<li class="row" id="sending-${id}">${thumbnail(`/thumbnails/under-way/${id}`, name)}
<div class="wide"><b class="name line" title="${mirror}/${path}">${path}</b>
<progress max="${size}" value="${sent}" aria-label="${name}"></progress>
<span class="aside">${sizeInWords(sent)} of ${sizeInWords(size)}</span></div></li>`
}

/** The pictures that were uploaded last, with their delivery addresses. */
export function latest({ latest }: Recorded): Html {
  if (latest.length === 0) return html`<h2>Latest pictures</h2><p class="aside">None was uploaded yet.</p>`
  return html`<h2>Latest pictures</h2>
<ul class="list latest">${latest.map(picture)}</ul>
<p class="aside">Anyone who knows a delivery address can see the picture, and read the time and place that its file holds.</p>`
}

function picture({ image, mirror, path, album, cdn_url, size, at }: LatestPicture): Html {
  const name = nameOf(path)
  return html`<li id="picture-${image}">${thumbnail(`/thumbnails/picture/${image}?${at}`, name)}
<b class="name line" title="${mirror}/${path}">${name}</b>
<span class="aside line">${albumInWords(album)}</span>
<span class="aside">${sizeInWords(size)} · ${time(at)}</span>
<span class="row aside">${address(cdn_url)}<button type="button" data-copy="${cdn_url}">Copy<span class="unseen"> the address of ${name}</span></button></span></li>`
}

/** Only an http or https address becomes a link, because the address comes from the host. */
function address(url: string): Html {
  const { protocol } = URL.parse(url) ?? {}
  return protocol === 'https:' || protocol === 'http:'
    ? html`<a class="wide line" href="${url}" target="_blank" rel="noopener noreferrer">${url}</a>`
    : html`<span class="wide line">${url}</span>`
}
