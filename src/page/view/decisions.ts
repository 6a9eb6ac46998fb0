import { setOfImages } from '../../daemon/commands/deletions.ts'
import { isForPerson, isTrouble } from '../../daemon/notify/health.ts'
import { folderAbove, fullPath, nameOf } from '../../sync/tree-path.ts'
import { count, inDigits } from '../../words/text.ts'
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
    html`<div id="all" class="row"><h2>${count(all.length, 'picture')} in ${count(toDecide.length, 'folder')}</h2>${decide(token, all)}</div>`
  }${toDecide.map(group => {
    const { folder, images, held, since, until, shown } = group
    return html`<section id="${idOf('waits', folder)}" class="${held > 0 ? 'bad' : 'soon'}">
<div class="row"><h2>${whatWaits(group)}</h2>${decide(token, images, folder)}</div>
<p class="dim">${whereFrom(group)} <code>${folder}</code> since ${time(since)}${held > 0 && until !== null && html`; ${inDigits(images.length - held)} of them go ${time(until)}`}.</p>
${strip(shown, images.length)}</section>`
  })}${all.length > 0 && html`<p class="dim">So much at once waits for longer. Until it is gone, <code>albumd restore --at</code> brings the pictures back.</p>`}`
}

function whereFrom({ images, gone }: ToDecide): string {
  if (gone === images.length) return 'Gone from'
  return gone === 0
    ? 'Replaced or hidden in'
    : `${inDigits(gone)} gone from, the others replaced or hidden in`
}

function whatWaits({ images: { length }, held, gone, until }: ToDecide): Html {
  const what = count(length, gone === 0 ? 'replaced version' : 'picture')
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

/** The pictures that could not be mirrored, by folder and reason. `token`: for the buttons. */
export function failures({ status: { failures, mirrors }, alerts }: Recorded, token: string): Html | null {
  if (failures.length === 0) return null
  const all = mirrors.reduce((sum, { failed, uncertain }) => sum + failed + uncertain, 0)
  const groups = Map.groupBy(failures, ({ mirror, path, code, message }) =>
    [path && fullPath(mirror, folderAbove(path)), code, message].join('\n'),
  )
  const rows = [...groups.values()].slice(0, FAILURES).map(([first, ...others]) => {
    const { mirror, path, code, message, next_attempt_at } = first!
    const about = fullPath(mirror, others.length === 0 ? path : folderAbove(path))
    return html`<li id="${idOf(`failed-${code}`, fullPath(mirror, path))}" class="row"><div><b>${about}</b>${others.length > 0 && html`: ${count(others.length + 1, 'picture')}`}
<p>${message} <code>${code}</code></p>${dotted(
      others.length > 0 && [first!, ...others].slice(0, NAMED).map(({ path }) => html`${nameOf(path)} `),
      next_attempt_at !== null && html`tried again ${time(next_attempt_at)}`,
    )}</div>
${commandButton(token, { command: 'retry', label: 'Retry', path: about, about })}</li>`
  })
  const shown = [...groups.values()].slice(0, FAILURES).flat().length
  return html`<section id="failures" class="${alerts.some(({ code }) => code === 'FAILED') ? 'bad' : null}">
<div class="row"><h2>Trouble with ${count(Math.max(all, failures.length), 'picture')}</h2>${commandButton(token, { command: 'retry', label: 'Retry all' })}</div>
${entries(rows, Math.max(all, failures.length) - shown + rows.length, 'albumd status')}</section>`
}
