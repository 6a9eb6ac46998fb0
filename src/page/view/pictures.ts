import type { LatestPicture } from '../../daemon/report/mirrored-pictures.ts'
import { nameOf } from '../../sync/tree-path.ts'
import { count, inDigits, sizeInWords, spanInWords } from '../../words/text.ts'
import type { Facts, Recorded } from '../facts.ts'
import type { UnderWay } from '../heard.ts'
import { albumInWords, type Html, html, thumbnail, time } from './elements.ts'

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
