import { type MirrorStatus, type UploadWait, waitsInWords } from '../../daemon/report/mirror-status.ts'
import type { LatestPicture } from '../../daemon/report/mirrored-pictures.ts'
import { whatBacklogTakes } from '../../daemon/report/quota-status.ts'
import type { Millis } from '../../protocol/clock.ts'
import { fullPath, nameOf } from '../../sync/tree-path.ts'
import { because, blockInWords, inWords, machineInWords, quotaRemedy } from '../../words/reasons.ts'
import { capital, count, countLeftOut, inDigits, leftIn, sizeInWords, spanInWords } from '../../words/text.ts'
import type { PageCommand } from '../commands.ts'
import type { Facts, Recorded } from '../facts.ts'
import type { UnderWay, UploadRate } from '../under-way.ts'
import { albumInWords, cutName, type Html, html, thumbnail, time } from './elements.ts'
import { whatWaits } from './state.ts'

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

export function mirrors({ status: { mirrors, blocks }, alerts }: Recorded): Html {
  // An error stands once on the page.
  const said = [...alerts, ...blocks].map(({ message }) => message)
  const guarded = mirrors.find(({ state }) => state === 'guarded')
  return html`<h2>${mirrors.length === 1 ? 'Mirror' : 'Mirrors'}</h2>
<ul class="list">${mirrors.map(of => mirror(of, said, guarded))}</ul>`
}

/** `said`: what stands elsewhere on the page. `guarded`: a mirror in doubt. */
function mirror(of: MirrorStatus, said: readonly string[], guarded: MirrorStatus | undefined): Html {
  const { folder, album, state, reason, files, synced, linked, oldest_unsynced } = of
  const why =
    state === 'idle' ? waitsInWords(of.waits) : reason === null || state === 'paused' ? [] : [reason]
  // Nothing is done now, because the pictures wait, for example for the quota.
  const waits = state === 'idle' && of.pending_uploads > 0
  return html`<li id="mirror-${folder}">
<p><span class="chip" data-kind="${waits ? 'busy' : KINDS[state]}">${waits ? 'waiting' : state}</span> <b>${folder}</b> → ${albumInWords(album)}</p>
${why.map(line => !said.some(text => text.includes(line)) && html`<p data-kind="bad"><span class="tone">${line}</span></p>`)}
${files === 0 ? html`<p>There is no picture in it.</p>` : progress(synced + linked, files)}
${chips(of)}
${guarded !== undefined && guarded !== of && of.pending_deletions > 0 && html`<p data-kind="warn"><span class="tone">${capital(inWords(because('guard_stops_deletions', { folder: guarded.folder })))}.</span></p>`}
${waitsInWords(of.image_waits).map(line => html`<p data-kind="warn"><span class="tone">${line}</span></p>`)}
${oldest_unsynced !== null && html`<p class="aside">The oldest waiting picture was found ${time(oldest_unsynced)}.</p>`}
${leftOut(of)}</li>`
}

function progress(there: number, files: number): Html {
  return html`<p><b>${inDigits(there)}</b> of ${count(files, 'picture')} on the host</p>
<progress max="${files}" value="${there}" aria-label="on the host"></progress>`
}

function chips(mirror: MirrorStatus): Html | null {
  const counts = [
    ...leftIn([mirror]),
    [mirror.linked, 'linked, bytes not compared yet', null],
    [mirror.flat, 'outside their albums', null],
  ] as const
  const shown = counts.filter(([n]) => n > 0)
  if (shown.length === 0) return null
  return html`<ul class="row">${shown.map(
    ([n, what, kind]) => html`<li class="chip" data-kind="${kind}">${inDigits(n)} ${what}</li>`,
  )}</ul>`
}

function leftOut({ left_out, left_out_with_image }: MirrorStatus): Html | null {
  const kinds = Object.entries(left_out).filter(([, n]) => n > 0)
  if (kinds.length === 0 && left_out_with_image === 0) return null
  const keep = left_out_with_image > 0 && `; of these, ${inDigits(left_out_with_image)} keep an image`
  const counts = kinds.map(([why, n]) => countLeftOut(why, n))
  return html`<p class="aside">Left out: ${counts.join(', ')}${keep}. “albumd ls --left-out” says why.</p>`
}

/** Today's quota, and what the host refuses. */
export function quota({ status: { quota, blocks, store, machines }, alerts }: Recorded, now: Millis): Html {
  const others = blocks.filter(
    ({ endpoint, code }) => !alerts.some(({ key }) => key === `BLOCKED ${endpoint} ${code}`),
  )
  const { plan, limit, used, reserve } = quota
  const remedy = quota.exhausted ? quotaRemedy(blocks) : null
  return html`<h2>Quota</h2>
<p><b>${inDigits(used)}</b> of ${inDigits(limit)} uploads today <span class="aside">(${plan})</span></p>
<progress max="${Math.max(1, limit)}" value="${Math.min(used, limit)}" aria-label="of today's uploads"></progress>
<p class="aside">${ends(quota, now)}${remedy && html` Uploads go on ${inWords(remedy)}.`}${
    reserve > 0 && !quota.exhausted && html` ${inDigits(reserve)} are kept for new pictures.`
  }</p>
${
  others.length > 0 &&
  html`<ul class="list">${others.map(
    block =>
      html`<li>${blockInWords([block])}: ${block.message} <code>${block.code}</code> <span class="aside">${time(block.said_at)}</span></li>`,
  )}</ul>`
}${
  store !== null &&
  store.away !== null &&
  html`<p class="aside">${inWords(because('store_is_away', { said: store.away.message }))}.</p>`
}${
  machines.length > 0 &&
  html`<ul class="list">${machines.map(
    ({ name, is_this, state, seen, albums, used_today }) =>
      html`<li>${name}${is_this && ' (this machine)'}: ${albums.map(album => album || "the host's root").join(', ') || 'no album'}; ${inDigits(used_today)} uploads today, ${machineInWords(state)} <span class="aside">${time(seen)}</span></li>`,
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

/** The pictures under way, the upload rate, and how long the rest will take. */
export function underWay({ status }: Recorded, { underWay, rate }: Facts): Html {
  const few = underWay.slice(0, UNDER_WAY_SHOWN)
  const more = underWay.length - few.length
  return html`<h2>Uploading</h2>
<p>${pace(status, underWay, rate)}</p>
${few.length > 0 && html`<ul class="list sending">${few.map(sending)}</ul>`}${
  more > 0 && html`<p class="aside">and ${more} more</p>`
}`
}

function pace(status: Recorded['status'], sending: readonly UnderWay[], rate: UploadRate): Html {
  const { backlog, paused } = status
  if (paused !== null)
    return html`Paused${paused.until !== null && html` until ${time(paused.until)}`}: nothing is sent or deleted.`
  if (backlog.pictures === 0 && sending.length === 0) return html`Nothing waits.`
  const speed =
    sending.length > 0 && rate.bytes > 0 && html` at <b>${sizeInWords(Math.round(rate.bytes))}/s</b>`
  const waiting = html`<b>${count(backlog.pictures, 'picture')}</b> (${sizeInWords(backlog.bytes)}) to go${speed}`
  const wait = whatWaits(status, sending)
  if (wait)
    return html`${waiting}; ${isOfSome(wait, backlog) && `${count(wait.pictures, 'picture')}: `}${wait.what}${wait.at !== null && html`: ${time(wait.at)}`}`
  const takes = wait === null ? whatBacklogTakes(status, rate.pictures) : null
  return html`${waiting}${takes && html`; ${inWords(takes)}`}`
}

/** Whether some of the pictures wait for this, and others for something else. */
function isOfSome(
  wait: UploadWait,
  { pictures }: { pictures: number },
): wait is UploadWait & { pictures: number } {
  return wait.pictures !== null && wait.pictures < pictures
}

function sending({ id, mirror, path, size, sent }: UnderWay): Html {
  const name = nameOf(path)
  return html`<li class="row" id="sending-${id}">${thumbnail(`/thumbnails/under-way/${id}`, name)}
<div class="wide">${cutName(path, fullPath(mirror, path))}
<progress max="${size}" value="${sent}" aria-label="${name}"></progress>
<span class="aside">${sizeInWords(sent)} of ${sizeInWords(size)}</span></div></li>`
}

/** The pictures that were uploaded last, with their delivery addresses. */
export function latest({ latest }: Recorded): Html {
  if (latest.length === 0)
    return html`<h2>Latest pictures</h2><p class="aside">What is uploaded appears here.</p>`
  return html`<h2>Latest pictures</h2>
<ul class="list latest">${latest.map(picture)}</ul>
<p class="aside">Anyone who knows a delivery address can see the picture, and read the time and place that its file holds.</p>`
}

function picture({ image, mirror, path, album, cdn_url, size, at }: LatestPicture): Html {
  const name = nameOf(path)
  return html`<li id="picture-${image}">${thumbnail(`/thumbnails/picture/${image}?${at}`, name)}
${cutName(name, fullPath(mirror, path))}
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
