import { sizeInWords } from '../../daemon/quantities.ts'
import type { LatestPicture } from '../../daemon/report/latest-pictures.ts'
import { nameOf } from '../../sync/tree-path.ts'
import type { Facts } from '../facts.ts'
import { type Html, html } from '../html.ts'
import { albumInWords, time } from '../words.ts'
import { thumbnail } from './thumbnail.ts'

/** The pictures that came to the host last, with what it takes to show them to others. */
export function latest({ recorded }: Facts): Html | null {
  if (recorded === null) return null
  if (recorded.latest.length === 0)
    return html`<h2>Latest pictures</h2><p class="aside">None was uploaded yet.</p>`
  return html`<h2>Latest pictures</h2>
<ul class="list latest">${recorded.latest.map(picture)}</ul>
<p class="aside">Who knows a delivery address sees the picture, and what its file says of time and place.</p>`
}

function picture({ image, mirror, path, album, cdn_url, size, at }: LatestPicture): Html {
  const name = nameOf(path)
  return html`<li id="picture-${image}">${thumbnail(`/thumbnails/picture/${image}?${at}`, name)}
<b class="name line" title="${mirror}/${path}">${name}</b>
<span class="aside line">${albumInWords(album)}</span>
<span class="aside">${sizeInWords(size)} · ${time(at)}</span>
<span class="row aside">${address(cdn_url)}<button type="button" data-copy="${cdn_url}">Copy<span class="unseen"> the address of ${name}</span></button></span></li>`
}

/** The host's word: only an address of the web is a link. */
function address(url: string): Html {
  const { protocol } = URL.parse(url) ?? {}
  return protocol === 'https:' || protocol === 'http:'
    ? html`<a class="wide line" href="${url}" target="_blank" rel="noopener noreferrer">${url}</a>`
    : html`<span class="wide line">${url}</span>`
}
