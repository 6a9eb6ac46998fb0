import { type MirrorStatus, waitsInWords } from '../../daemon/report/mirror-status.ts'
import { whatBacklogTakes } from '../../daemon/report/quota-status.ts'
import { joinOf } from '../../daemon/report/step.ts'
import type { Millis } from '../../protocol/clock.ts'
import { nameOf } from '../../sync/tree-path.ts'
import { because, blockInWords, inWords, machineInWords, quotaRemedy } from '../../words/reasons.ts'
import {
  capital,
  count,
  countEach,
  countLeftOut,
  inDigits,
  leftIn,
  sizeInWords,
  spanInWords,
} from '../../words/text.ts'
import type { PageCommand } from '../commands.ts'
import type { Facts, Recorded } from '../facts.ts'
import type { RecentLine } from '../recent-log.ts'
import type { UnderWay, UploadRate } from '../under-way.ts'
import { albumInWords, dotted, type Html, html, idOf, thumbnail, time } from './elements.ts'
import { whatWaits } from './state.ts'

const STATES = {
  waits: 'waits until the current work is done',
  'under way': 'is under way',
  done: 'is done',
  refused: "can't be done",
} as const

export function commands(commands: readonly PageCommand[]): Html | null {
  if (commands.length === 0) return null
  return html`<ul>${commands.map(
    ({ id, what, state, why }) =>
      html`<li id="command-${id}" class="${state === 'refused' ? 'needs' : null}"><b>${what}</b> ${STATES[state]}${why !== null && `: ${why}`}</li>`,
  )}</ul>`
}

export function mirrors({ status, alerts }: Recorded, { underWay, rate }: Facts): Html {
  const { mirrors, blocks } = status
  // An error is shown only once on the page.
  const said = [...alerts, ...blocks].map(({ message }) => message)
  const guarded = mirrors.find(({ state }) => state === 'guarded')
  return html`<section id="mirrors"><h2 class="unseen">Mirrors</h2>
<ul>${mirrors.map(of => mirror(of, said, guarded))}</ul>
${pace(status, underWay, rate)}</section>`
}

/** The line of a mirror. `said`: messages that stand elsewhere on the page. `guarded`: a mirror in doubt. */
function mirror(of: MirrorStatus, said: readonly string[], guarded: MirrorStatus | undefined): Html {
  const { folder, album, state, reason, files, synced, linked, flat, oldest_unsynced } = of
  // What all pictures wait for is said once, below the mirrors.
  const own = waitsInWords(of.waits.filter(({ pictures }) => pictures !== null))
  const why = state === 'idle' ? own : reason === null || state === 'paused' ? [] : [reason]
  const there = synced + linked
  const stops = guarded !== undefined && guarded !== of && of.pending_deletions > 0
  return html`<li id="${idOf('mirror', folder)}" class="mirror"><span><b>${folder}</b> → ${albumInWords(album)}</span>
<span>${inDigits(there)} of ${inDigits(files)}${state !== 'idle' && ` · ${state}`}</span>
<progress max="${Math.max(1, files)}" value="${there}" aria-label="${folder} on the host"></progress>
${dotted(
  ...countEach(...leftIn([of]), [linked, 'linked, bytes not compared yet'], [flat, 'outside their albums']),
  ...[...why, ...waitsInWords(of.image_waits)].filter(line => !said.some(text => text.includes(line))),
  of.pending_deletions > (of.many?.deletions ?? 0) && 'when they go: albumd deletions list',
  stops && capital(inWords(because('guard_stops_deletions', { folder: guarded.folder }))),
  oldest_unsynced !== null && html`the oldest was found ${time(oldest_unsynced)}`,
  leftOut(of),
)}</li>`
}

function leftOut({ left_out, left_out_with_image }: MirrorStatus): string | null {
  const kinds = Object.entries(left_out).filter(([, n]) => n > 0)
  if (kinds.length === 0 && left_out_with_image === 0) return null
  const keep = left_out_with_image > 0 ? `; ${inDigits(left_out_with_image)} keep their images` : ''
  return `left out: ${kinds.map(([why, n]) => countLeftOut(why, n)).join(', ')}${keep} (albumd ls --left-out)`
}

/** What is on its way, how fast, and what the rest waits for. */
function pace(status: Recorded['status'], sending: readonly UnderWay[], rate: UploadRate): Html | null {
  const { backlog, paused } = status
  if (paused !== null) return dotted('Paused: nothing is sent or deleted')
  if (backlog.pictures === 0 && sending.length === 0) return null
  const wait = whatWaits(status, sending)
  const takes = wait === null ? whatBacklogTakes(status, rate.pictures) : null
  const speed = sending.length > 0 && rate.bytes > 0 && ` at ${sizeInWords(Math.round(rate.bytes))}/s`
  return html`<div id="pace">${dotted(
    html`<b>${count(backlog.pictures, 'picture')}</b> (${sizeInWords(backlog.bytes)}) to go${speed}`,
    wait != null &&
      wait.pictures === null &&
      html`${wait.what}${wait.at !== null && html`${joinOf(wait)} ${time(wait.at)}`}`,
    takes && inWords(takes),
    ...sending
      .slice(0, SENDING)
      .map(({ path, size, sent }) => `${nameOf(path)} ${sizeInWords(sent)} of ${sizeInWords(size)}`),
  )}</div>`
}

const SENDING = 8

/** Today's quota, what the host refuses, and the machines of the account. */
export function quota({ status: { quota, blocks, store, machines }, alerts }: Recorded, now: Millis): Html {
  const others = blocks.filter(
    ({ endpoint, code }) => !alerts.some(({ key }) => key === `BLOCKED ${endpoint} ${code}`),
  )
  const { plan, limit, used, reserve } = quota
  const remedy = quota.exhausted ? quotaRemedy(blocks) : null
  return html`<section id="quota"><h2 class="unseen">Quota</h2>
<div class="mirror"><span><b>${inDigits(used)}</b> of ${inDigits(limit)} uploads today</span><span class="dim">${plan}</span>
<progress max="${Math.max(1, limit)}" value="${Math.min(used, limit)}" aria-label="of today's uploads"></progress>
${dotted(
  quota.exhausted && ends(quota, now),
  remedy && `uploads go on ${inWords(remedy)}`,
  reserve > 0 && !quota.exhausted && `${inDigits(reserve)} kept for new pictures`,
  store !== null && store.away !== null && inWords(because('store_is_away', { said: store.away.message })),
)}</div>
<ul>${others.map(
    block =>
      html`<li>${blockInWords([block])}: ${block.message} <code>${block.code}</code> <span class="dim">${time(block.said_at)}</span></li>`,
  )}${machines.map(
    ({ name, is_this, state, seen, albums, used_today }) =>
      html`<li>${name}${is_this && ' (this machine)'}: ${albums.map(albumInWords).join(', ') || 'no album'}; ${inDigits(used_today)} uploads today, ${machineInWords(state)} <span class="dim">${time(seen)}</span></li>`,
  )}</ul></section>`
}

function ends({ resumes_at, next_probe_at }: Recorded['status']['quota'], now: number): Html {
  if (resumes_at !== null)
    return html`used up until ${time(resumes_at)}, for about ${spanInWords(Date.parse(resumes_at) - now)}`
  return html`used up${next_probe_at !== null && html`; the host is asked again ${time(next_probe_at)}`}`
}

/** The pictures that were uploaded last. A click copies the delivery address. */
export function latest({ latest }: Recorded): Html | null {
  if (latest.length === 0) return null
  return html`<section id="latest"><h2>Latest</h2>
<ul class="strip">${latest.map(
    ({ image, path, cdn_url }) =>
      html`<li id="picture-${image}">${address(cdn_url, html`${thumbnail(image, '')}<span class="name">${nameOf(path)}</span>`)}</li>`,
  )}</ul>
<p class="dim">A click copies the address. Whoever has it can see the picture, and read the time and place in its file.</p></section>`
}

/** Only an http or https address becomes a link, because the address comes from the host. */
function address(url: string, shown: Html): Html {
  const { protocol } = URL.parse(url) ?? {}
  return protocol === 'https:' || protocol === 'http:'
    ? html`<a href="${url}" data-copy title="${url}" target="_blank" rel="noopener noreferrer">${shown}</a>`
    : shown
}

export function log(lines: readonly RecentLine[]): Html {
  return html`<details id="log" class="dim"><summary>Log</summary><ol>${lines.map(({ at, text }) => html`<li>${time(at)} ${text}</li>`)}</ol></details>`
}
