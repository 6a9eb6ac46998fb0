import { setOfImages } from '../../daemon/commands/deletions.ts'
import { isForPerson, isTrouble } from '../../daemon/notify/health.ts'
import { alikeFailures, type FailureStatus } from '../../daemon/report/failures.ts'
import { fullPath, nameOf } from '../../sync/tree-path.ts'
import { because, commandOf } from '../../words/reasons.ts'
import { count, inDigits, isoTime } from '../../words/text.ts'
import type { Facts, Recorded } from '../facts.ts'
import type { ToDecide } from '../to-decide.ts'
import {
  askingButton,
  commandButton,
  dotted,
  entries,
  type Html,
  html,
  idOf,
  thumbnail,
  time,
} from './elements.ts'

/** What waits to be deleted, by folder, with the buttons that end the wait. `token`: for the buttons. */
export function deletions({ toDecide }: Recorded, token: string): Html {
  const all = toDecide.flatMap(({ images }) => images)
  return html`${
    toDecide.length > 1 &&
    html`<div id="all" class="row"><h2>${count(all.length, 'picture')} to delete, in ${count(toDecide.length, 'folder')}</h2>${decide(token, all)}</div>`
  }${toDecide.map(group => {
    const { folder, images, held, since, until, shown } = group
    return html`<section id="${idOf('waits', folder)}" class="${held > 0 ? 'bad' : 'soon'}">
<div class="row"><h2>${whatWaits(group)}</h2>${decide(token, images, folder)}</div>
<p class="dim">${whereFrom(group)} <code>${folder}</code> since ${time(since)}${held > 0 && until !== null && html`; ${inDigits(images.length - held)} of them go ${time(until)}`}. <code>${commandOf(because('bring_back', { folder, at: isoTime(since - 1) }))}</code> brings the folder back.</p>
${strip(shown, images.length)}</section>`
  })}`
}

function whereFrom({ images, gone }: ToDecide): string {
  if (gone === images.length) return 'Gone from'
  return gone === 0
    ? 'Replaced or hidden in'
    : `${inDigits(gone)} gone from, the others replaced or hidden in`
}

function whatWaits({ images: { length }, held, gone, until }: ToDecide): Html {
  const what = count(length, gone === 0 ? 'image' : 'picture')
  if (held > 0) return html`${what} would be deleted. ${length === 1 ? 'It waits' : 'They wait'} for you.`
  return html`${what} will be deleted${until !== null && html` ${time(until)}`}`
}

function decide(token: string, images: readonly number[], path?: string): Html {
  const what = count(images.length, 'image')
  const about = path === undefined ? 'of all folders' : `of ${path}`
  const seen = setOfImages(images)
  const id = (command: string) => idOf(command, path ?? '')
  const keep = { command: 'discard', label: `Keep ${what}`, path, seen, about, kind: 'keep' } as const
  const approve = { command: 'approve', label: `Delete ${what}`, path, seen, about, kind: 'bad' } as const
  const all = path === undefined ? ' all' : ''
  return html`<div class="row">${askingButton(token, id('keep'), `Keep${all} on the host…`, `Keep ${what} ${about} on the host? albumd will not delete ${images.length === 1 ? 'it' : 'them'} later.`, keep)}
${askingButton(token, id('delete'), `Delete${all} now…`, `Delete ${what} ${about} from the host? Nothing brings back what is gone there.`, approve)}</div>`
}

/** How many images of a folder are seen at first. Where there are no more than FEW, all are. */
const SEEN = 8
const FEW = 16

function strip(shown: ToDecide['shown'], all: number): Html {
  const pictures = shown.map(({ image, name }) => thumbnail(image, name))
  const seen = all <= FEW ? FEW : SEEN
  const left = all - shown.length
  return html`<div class="strip">${pictures.slice(0, seen)}</div>${
    all > seen &&
    html`<details><summary>${inDigits(all - seen)} more</summary><div class="strip">${pictures.slice(seen)}</div>${left > 0 && html`<p class="dim">and ${inDigits(left)} more; “albumd deletions list --all” names them</p>`}</details>`
  }`
}

/** Alerts of which the page shows more elsewhere. */
const SHOWN_ELSEWHERE: ReadonlySet<string> = new Set(['HELD', 'FAILED'])
const ALERTS = 12

/** What a person must end, and what takes long while albumd goes on by itself. */
export function alerts({ recorded, problem }: Facts): Html {
  const told = (problem ? [problem] : (recorded?.alerts ?? [])).filter(
    alert => isTrouble(alert) && !SHOWN_ELSEWHERE.has(alert.code),
  )
  const section = (id: string, title: string, ones: typeof told) =>
    ones.length > 0 &&
    html`<section id="${id}" class="${id === 'attention' ? 'bad' : null}"><h2>${title}</h2>
${entries(
  ones.slice(0, ALERTS).map(({ code, message }) => html`<li>${message} <code>${code}</code></li>`),
  ones.length,
  'albumd status',
)}</section>`
  return html`${section('attention', 'This needs you', told.filter(isForPerson))}
${section(
  'late',
  'This takes long',
  told.filter(alert => !isForPerson(alert)),
)}`
}

const FAILURES = 20
/** How many names of a group are shown. */
const NAMED = 8

/** The pictures that could not be mirrored, by folder and kind. Below them the uploads of which albumd finds out by itself whether
 * they arrived. `token`: for the buttons. */
export function failures({ status, alerts }: Recorded, token: string): Html {
  const [unsure, others] = [true, false].map(isUnsure =>
    status.failures.filter(({ code, needs_person }) => (code === 'UNCERTAIN' && !needs_person) === isUnsure),
  ) as [FailureStatus[], FailureStatus[]]
  const all = status.mirrors.reduce((sum, { failed, uncertain }) => sum + failed + uncertain, 0)
  const most = Math.max(all, status.failures.length) - unsure.length
  const isTried = others.some(({ next_attempt_at }) => next_attempt_at !== null)
  return html`${
    others.length > 0 &&
    html`<section id="failures" class="${alerts.some(({ code }) => code === 'FAILED') ? 'bad' : null}">
<div class="row"><h2>Trouble with ${count(most, 'picture')}</h2>${isTried && commandButton(token, { command: 'retry', label: 'Retry all' })}</div>
${rows(others, most, token)}</section>`
  }${
    unsure.length > 0 &&
    html`<section id="unsure"><h2>albumd finds out whether ${count(unsure.length, 'picture')} arrived</h2>
${rows(unsure, unsure.length, null)}</section>`
  }`
}

/** `most`: how many there are, more perhaps than these. `token`: for the buttons; null: there are none. */
function rows(failures: readonly FailureStatus[], most: number, token: string | null): Html {
  const groups = alikeFailures(failures).slice(0, FAILURES)
  const told = groups.reduce((sum, { all }) => sum + all.length, 0)
  const shown = groups.map(({ full, message, all: [first, ...others] }) => {
    const { mirror, path, code } = first
    const names = [first, ...others].slice(0, NAMED).map(({ path }) => html`${nameOf(path)} `)
    const again = [first, ...others].flatMap(({ next_attempt_at }) => next_attempt_at ?? []).sort()[0]
    return html`<li id="${idOf(`failed-${code}`, fullPath(mirror, path))}" class="row"><div><b>${full}</b>${others.length > 0 && html`: ${count(others.length + 1, 'picture')}`}
<p>${message} <code>${code}</code></p>${dotted(
      others.length > 0 && names,
      others.length >= NAMED && `${inDigits(others.length + 1 - NAMED)} more`,
      again !== undefined && html`${code === 'UNCERTAIN' ? 'known' : 'tried again'} ${time(again)}`,
    )}</div>
${token !== null && again !== undefined && commandButton(token, { command: 'retry', label: 'Retry', path: full, about: full })}</li>`
  })
  return entries(shown, most - told + shown.length, 'albumd status --json')
}
