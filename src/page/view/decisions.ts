import type { PendingDeletion } from '../../daemon/commands/deletions.ts'
import { stateAlert } from '../../daemon/notify/health.ts'
import type { FailureStatus, MirrorStatus } from '../../daemon/report/status.ts'
import { folderAbove, fullPath, isAtOrBelow, nameOf } from '../../sync/tree-path.ts'
import { inWords, WHY_IN_ESCROW } from '../../words/reasons.ts'
import { count, inDigits } from '../../words/text.ts'
import { type Facts, needPerson, type Recorded } from '../facts.ts'
import { asksFirst, commandButton, cutName, entries, type Html, html, SHOWN, time } from './elements.ts'

/** What a person must end. What stands elsewhere on the page is only pointed at. */
export function attention({ recorded, stateProblem }: Facts): Html | null {
  const alerts = stateProblem === null ? needPerson(recorded?.alerts ?? []) : [stateAlert(stateProblem)]
  if (alerts.length === 0) return null
  const few = alerts.slice(0, SHOWN)
  return html`<h2>${alerts.length === 1 ? 'This needs you' : `${count(alerts.length, 'thing')} need you`}</h2>
<ul>${few.map(({ code, message }) => {
    if (code === 'HELD') return html`<li><a href="#held">Deletions wait for your decision</a></li>`
    if (code === 'FAILED')
      return html`<li><a href="#failures">Some pictures or folders can't be mirrored as they are</a></li>`
    return html`<li>${message} <code>${code}</code></li>`
  })}</ul>`
}

/** What takes long, although albumd goes on by itself. */
export function late({ recorded }: Facts): Html | null {
  const alerts = (recorded?.alerts ?? []).filter(alert => !needPerson([alert]).length)
  if (alerts.length === 0) return null
  return html`<h2>This takes long</h2>
<ul>${alerts.map(({ code, message }) => html`<li>${message} <code>${code}</code></li>`)}</ul>`
}

/** The pictures that could not be mirrored. `token`: for the buttons. */
export function failures({ status: { failures, accepted, mirrors } }: Recorded, token: string): Html | null {
  if (failures.length === 0) return ignored(accepted, mirrors, token)
  const all = Math.max(
    failures.length,
    mirrors.reduce((sum, { failed, uncertain }) => sum + failed + uncertain, 0),
  )
  return html`<div class="row"><h2 class="wide">Not on the host <span class="aside">${inDigits(all)}</span></h2>
${commandButton(token, 'retry', 'Retry all')}</div>
${failureGroups(failures, all, 'albumd status', token)}${ignored(accepted, mirrors, token)}`
}

/** The failures that a person accepted. */
function ignored(
  accepted: readonly FailureStatus[],
  mirrors: readonly MirrorStatus[],
  token: string,
): Html | null {
  if (accepted.length === 0) return null
  const all = mirrors.reduce((sum, mirror) => sum + mirror.accepted, 0)
  return html`<details><summary>${count(all, 'failure')} ignored</summary>
${failureGroups(accepted, all, 'albumd accept --list', token)}</details>`
}

/** The failures by folder and code. A message that a group has in common stands once. */
function failureGroups(failures: readonly FailureStatus[], all: number, others: string, token: string): Html {
  const groups = Map.groupBy(failures, ({ mirror, path, code }) =>
    [fullPath(mirror, folderAbove(path)), path === '' ? '' : code].join('\n'),
  )
  const rows = [...groups.values()].map(group => {
    const [first] = group as [FailureStatus]
    if (group.length === 1) return failureRow(first, token, true)
    const folder = fullPath(first.mirror, folderAbove(first.path))
    const same = group.every(({ message }) => message === first.message)
    const inFolder = group.slice(0, SHOWN).map(failure => failureRow(failure, token, !same))
    return html`<li id="failures-${first.code}-${folder}"><div class="row"><div class="wide">${cutName(folderAbove(first.path) || first.mirror, folder)}
<p>${count(group.length, 'picture')}${same && html`: ${first.message}`} <code>${first.code}</code></p></div>
${commandButton(token, 'retry', 'Retry', { path: folder, about: folder })}</div>
${entries(inFolder, group.length, others)}</li>`
  })
  const shown = rows.slice(0, SHOWN)
  return entries(shown, rows.length + all - failures.length, others)
}

function failureRow(failure: FailureStatus, token: string, isWhole: boolean): Html {
  const { mirror, path, code, message, next_attempt_at, accepted_at, acceptable } = failure
  const full = fullPath(mirror, path)
  const name = path === '' ? mirror : isWhole ? path : nameOf(path)
  return html`<li class="row" id="failure-${full}"><div class="wide">${cutName(name, full)}
${isWhole && html`<p>${message} <code>${code}</code></p>`}${
  next_attempt_at !== null && html`<p class="aside">It is tried again at ${time(next_attempt_at)}.</p>`
}</div>
<div class="row">${commandButton(token, 'retry', 'Retry', { path: full, about: path })}${
    accepted_at !== null
      ? commandButton(token, 'unaccept', 'Do not ignore', { path: full, about: path })
      : acceptable && commandButton(token, 'accept', 'Ignore', { path: full, about: path })
  }</div></li>`
}

/** The deletions that wait until a person decides, by folder. `token`: for the buttons. */
export function held({ held, status: { mirrors } }: Recorded, token: string): Html | null {
  if (held.length === 0) return null
  const all = Math.max(
    held.length,
    mirrors.reduce((sum, { held_deletions }) => sum + held_deletions, 0),
  )
  const folders = Map.groupBy(held, ({ mirror, path }) => fullPath(mirror, folderAbove(path)))
  const rows = [...folders].map(([folder, inFolder]) => {
    if (inFolder.length === 1) return heldRow(inFolder[0]!, token, true)
    const atOrBelow = held.filter(({ mirror, path }) => isAtOrBelow(fullPath(mirror, path), folder))
    const below = atOrBelow.length > inFolder.length ? ' and the folders in it' : ''
    const name = mirrors.length > 1 ? folder : folderAbove(inFolder[0]!.path) || folder
    const reasons = Map.groupBy(inFolder, ({ reason }) => reason)
    const counts = [...reasons].map(
      ([why, { length }]) => `${inDigits(length)} ${inWords(WHY_IN_ESCROW[why])}`,
    )
    return html`<li id="held-in-${folder}"><div class="row"><div class="wide">${cutName(name, folder)}
<p class="aside">${count(inFolder.length, 'image')}: ${counts.join(', ')}</p></div>
${decide(token, { images: atOrBelow.length, of: `of ${name}${below}`, path: folder })}</div>
${entries(
  inFolder.slice(0, SHOWN).map(deletion => heldRow(deletion, token, false)),
  inFolder.length,
  'albumd deletions list',
)}</li>`
  })
  return html`<h2>Held deletions <span class="aside">${inDigits(all)}</span></h2>
<p>Unusually many pictures are gone here, so their images wait. <b>Approve</b> deletes them for good, <b>discard</b> keeps
them on the host.</p>
<div class="row">${decide(token, { images: all, of: 'of all folders' })}</div>
${entries(rows.slice(0, SHOWN), rows.length + all - held.length, 'albumd deletions list')}`
}

function heldRow(
  { mirror, path, reason, since, image_id }: PendingDeletion,
  token: string,
  isWhole: boolean,
): Html {
  const full = fullPath(mirror, path)
  return html`<li class="row" id="held-${image_id}"><div class="wide">${cutName(isWhole ? path : nameOf(path), full)}
<p class="aside">${isWhole && `${inWords(WHY_IN_ESCROW[reason])}, `}since ${time(since)}</p></div>
${decide(token, { images: 1, of: `of ${path}`, path: full })}</li>`
}

/** Approve and discard. `of`: which images, in words. `path`: without it, all held deletions are meant. */
function decide(token: string, { images, of, path }: { images: number; of: string; path?: string }): Html {
  const what = `${count(images, 'image')} ${of}`
  const button = (command: 'approve' | 'discard', verb: string, kind?: 'bad') =>
    commandButton(token, command, `${verb} ${count(images, 'image')}`, {
      ...(path !== undefined && { path }),
      ...(kind && { kind }),
      most: images,
      about: of,
    })
  const all = path === undefined ? ' all' : ''
  return html`<div class="row">${asksFirst(`Approve${all}`, what, `This deletes ${what} from the host. This can't be undone.`, button('approve', 'Delete', 'bad'))}
${asksFirst(`Discard${all}`, what, `This keeps ${what} on the host for good.`, button('discard', 'Keep'))}</div>`
}
