import type { HeldDeletion } from '../../daemon/commands/deletions.ts'
import { stateAlert } from '../../daemon/notify/health.ts'
import { fullPath } from '../../sync/tree-path.ts'
import { inWords, WHY_IN_ESCROW } from '../../words/reasons.ts'
import { count, inDigits } from '../../words/text.ts'
import type { PageCommand } from '../commands.ts'
import type { Facts, Recorded } from '../facts.ts'
import { commandButton, entries, type Html, html, SHOWN, time } from './elements.ts'

/** The pictures that could not be mirrored. `token`: for the buttons. */
export function failures({ status: { failures, mirrors } }: Recorded, token: string): Html | null {
  if (failures.length === 0) return null
  const rows = failures.slice(0, SHOWN).map(failure => failureRow(failure, token))
  const all = Math.max(
    failures.length,
    mirrors.reduce((sum, { failed, uncertain }) => sum + failed + uncertain, 0),
  )
  return html`<div class="row"><h2 class="wide">Not on the host <span class="aside">${inDigits(all)}</span></h2>
${commandButton(token, 'retry', 'Retry all')}</div>
${entries(rows, all, 'albumd status')}`
}

function failureRow(
  { mirror, path, code, message, next_attempt_at }: Recorded['status']['failures'][number],
  token: string,
): Html {
  const full = fullPath(mirror, path)
  return html`<li class="row" id="failure-${full}"><div class="wide"><b class="name" title="${full}">${path === '' ? mirror : path}</b>
<p>${message} <code>${code}</code></p>${
    next_attempt_at !== null && html`<p class="aside">It is tried again at ${time(next_attempt_at)}.</p>`
  }</div>
${commandButton(token, 'retry', 'Retry', { path: full, about: path })}</li>`
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

function heldRow({ mirror, path, reason, since, image_id }: HeldDeletion, token: string): Html {
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
