import { count } from '../../daemon/quantities.ts'
import type { MirrorStatus } from '../../daemon/report/status.ts'
import type { Facts } from '../facts.ts'
import { type Html, html } from '../html.ts'
import { albumInWords, time } from '../words.ts'

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

/** How each mirror stands. */
export function mirrors({ recorded }: Facts): Html | null {
  if (recorded === null) return null
  const { mirrors } = recorded.status
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
${oldest_unsynced !== null && html`<p class="aside">The oldest that waits was found ${time(oldest_unsynced)}.</p>`}
${leftOut(of)}</li>`
}

function progress(there: number, files: number): Html {
  return html`<p><b>${there.toLocaleString('en')}</b> of ${count(files, 'picture')} on the host</p>
<progress max="${files}" value="${there}" aria-label="on the host"></progress>`
}

function chips(mirror: MirrorStatus): Html | null {
  const counts = [
    ['to upload', mirror.pending_uploads, null],
    ['failed', mirror.failed, 'bad'],
    ['uncertain', mirror.uncertain, 'warn'],
    ['linked, bytes not compared yet', mirror.linked, null],
    ['to delete', mirror.pending_deletions, null],
    ['held', mirror.held_deletions, 'warn'],
  ] as const
  const shown = counts.filter(([, n]) => n > 0)
  if (shown.length === 0) return null
  return html`<ul class="row">${shown.map(
    ([what, n, kind]) => html`<li class="chip" data-kind="${kind}">${n.toLocaleString('en')} ${what}</li>`,
  )}</ul>`
}

function leftOut({ left_out, left_out_with_image }: MirrorStatus): Html | null {
  const kinds = Object.entries(left_out).filter(([, n]) => n > 0)
  if (kinds.length === 0 && left_out_with_image === 0) return null
  const keep =
    left_out_with_image > 0 && `; of these, ${left_out_with_image.toLocaleString('en')} keep an image`
  const counts = kinds.map(
    ([why, n]) => `${n.toLocaleString('en')} ${LEFT_OUT[why as keyof typeof LEFT_OUT]}`,
  )
  return html`<p class="aside">Left out: ${counts.join(', ')}${keep}.</p>`
}
