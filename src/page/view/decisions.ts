import type { PendingDeletion } from '../../daemon/commands/deletions.ts'
import { type Alert, isForPerson, isTrouble } from '../../daemon/notify/health.ts'
import type { FailureStatus } from '../../daemon/report/failures.ts'
import { folderAbove, fullPath, isAtOrBelow, nameOf } from '../../sync/tree-path.ts'
import { inWords, WHY_IN_ESCROW } from '../../words/reasons.ts'
import { count, inDigits } from '../../words/text.ts'
import type { Facts, Recorded } from '../facts.ts'
import { asksFirst, commandButton, cutName, entries, type Html, html, SHOWN, time } from './elements.ts'

function alertsOf({ recorded, problem }: Facts): readonly Alert[] {
  return problem ? [problem] : (recorded?.alerts ?? [])
}

/** What a person must end. What stands elsewhere on the page is only pointed at. */
export function attention(facts: Facts): Html | null {
  const alerts = alertsOf(facts).filter(isForPerson)
  if (alerts.length === 0) return null
  const few = alerts.slice(0, SHOWN)
  const heldIn = few.filter(({ code }) => code === 'HELD').length
  return html`<h2>${alerts.length === 1 ? 'This needs you' : `${count(alerts.length, 'thing')} need you`}</h2>
<ul>${few.map(({ code, message }) => {
    if (code === 'HELD')
      return html`<li><a href="#held">Deletions wait for your decision</a>${heldIn > 1 && html`: ${message}`}</li>`
    if (code === 'FAILED')
      return html`<li><a href="#failures">Some pictures or folders can't be mirrored as they are</a></li>`
    return html`<li>${message} <code>${code}</code></li>`
  })}${alerts.length > SHOWN && html`<li>and ${inDigits(alerts.length - SHOWN)} more</li>`}</ul>`
}

/** What takes long, although albumd goes on by itself. */
export function late(facts: Facts): Html | null {
  const alerts = alertsOf(facts).filter(alert => !isForPerson(alert) && isTrouble(alert))
  if (alerts.length === 0) return null
  return html`<h2>This takes long</h2>
<ul>${alerts.map(({ code, message }) => html`<li>${message} <code>${code}</code></li>`)}</ul>`
}

/** The pictures that could not be mirrored. `token`: for the buttons. */
export function failures({ status: { failures, mirrors } }: Recorded, token: string): Html | null {
  if (failures.length === 0) return null
  const all = Math.max(
    failures.length,
    mirrors.reduce((sum, { failed, uncertain }) => sum + failed + uncertain, 0),
  )
  const unsure = mirrors.reduce((sum, { uncertain }) => sum + uncertain, 0)
  const title =
    unsure === 0
      ? 'Not on the host'
      : unsure < all
        ? 'Not, or perhaps not, on the host'
        : 'Perhaps not on the host'
  return html`<div class="row"><h2 class="wide">${title} <span class="aside">${inDigits(all)}</span></h2>
${commandButton(token, 'retry', 'Retry all')}</div>
${failureGroups(failures, all, 'albumd status', token)}`
}

/** How many groups are shown, and how many rows of a group where there are several groups. So the page stays small. */
const GROUPS = 20
const ROWS = 8

/** What a list of groups shows. */
interface Grouped<T> {
  groups: readonly (readonly T[])[]
  /** A group of one has no head. */
  alone(only: T): Html
  head(group: readonly T[]): { id: string; head: Html }
  row(one: T, group: readonly T[]): Html
  /** How many rows the records have beside those of the groups. */
  unlisted: number
  /** The command that shows all rows. */
  others: string
}

function grouped<T>({ groups, alone, head, row, unlisted, others }: Grouped<T>): Html {
  const most = groups.length * ROWS > SHOWN ? ROWS : SHOWN
  const shown = groups.slice(0, GROUPS).map(group => {
    if (group.length === 1) return alone(group[0]!)
    const { id, head: first } = head(group)
    const rows = group.slice(0, most).map(one => row(one, group))
    return html`<li id="${id}"><div class="row">${first}</div>
${entries(rows, group.length, others)}</li>`
  })
  return entries(shown, groups.length + unlisted, others)
}

/** The failures by folder and code. A message that a group has in common stands once. */
function failureGroups(failures: readonly FailureStatus[], all: number, others: string, token: string): Html {
  const groups = Map.groupBy(failures, ({ mirror, path, code }) =>
    [fullPath(mirror, folderAbove(path)), path === '' ? '' : code].join('\n'),
  )
  const haveOneMessage = ([first, ...rest]: readonly FailureStatus[]) =>
    rest.every(({ message }) => message === first!.message)
  return grouped({
    groups: [...groups.values()],
    alone: failure => failureRow(failure, token, true),
    head(group) {
      const { mirror, path, code, message } = group[0]!
      const above = folderAbove(path)
      const folder = fullPath(mirror, above)
      const head = html`<div class="wide">${cutName(above || mirror, folder)}
<p>${count(group.length, 'picture')}${haveOneMessage(group) && html`: ${message}`} <code>${code}</code></p></div>
${commandButton(token, 'retry', 'Retry', { path: folder, about: folder })}`
      return { id: `failures-${code}-${folder}`, head }
    },
    row: (failure, group) => failureRow(failure, token, !haveOneMessage(group)),
    unlisted: all - failures.length,
    others,
  })
}

function failureRow(failure: FailureStatus, token: string, isWhole: boolean): Html {
  const { mirror, path, code, message, next_attempt_at } = failure
  const full = fullPath(mirror, path)
  const name = path === '' ? mirror : isWhole ? path : nameOf(path)
  return html`<li class="row" id="failure-${full}"><div class="wide">${cutName(name, full)}
${isWhole && html`<p>${message} <code>${code}</code></p>`}${
  next_attempt_at !== null && html`<p class="aside">It is tried again at ${time(next_attempt_at)}.</p>`
}</div>
<div class="row">${commandButton(token, 'retry', 'Retry', { path: full, about: path })}</div></li>`
}

/** The deletions that a person may decide about, by folder: those held, and those that wait because they are many. `token`: for
 * the buttons. */
export function held({ held, status: { mirrors } }: Recorded, token: string): Html | null {
  if (held.length === 0) return null
  const all = Math.max(
    held.length,
    mirrors.reduce((sum, { held_deletions, many }) => sum + held_deletions + (many?.deletions ?? 0), 0),
  )
  const until = held.flatMap(({ state, goes_at }) => (state === 'many' && goes_at ? [goes_at] : [])).sort()
  const [last] = until.slice(-1)
  const folders = Map.groupBy(held, ({ mirror, path }) => fullPath(mirror, folderAbove(path)))
  return html`<h2>Deletions that wait <span class="aside">${inDigits(all)}</span></h2>
<p>Unusually many pictures are gone here, so their images wait${last === undefined ? '' : html`, ${until.length < held.length && `${inDigits(until.length)} of them `}until ${time(last)}`}.
<b>Approve</b> deletes them for good, <b>discard</b> keeps them on the host. Until they are gone, <code>albumd restore</code>
brings the pictures back.</p>
<div class="row">${decide(token, { images: all, of: 'of all folders' })}</div>
${grouped({
  groups: [...folders.values()],
  alone: deletion => heldRow(deletion, token, true),
  head: group =>
    heldHead(group, held, { isOnlyMirror: mirrors.length === 1, isCut: all > held.length }, token),
  row: deletion => heldRow(deletion, token, false),
  unlisted: all - held.length,
  others: 'albumd deletions list',
})}`
}

/** `all`: the held deletions that are listed, of all folders. A person decides about a folder together with the folders in it.
 * `isCut`: some are not listed, so nobody knows here how many a folder has. */
function heldHead(
  group: readonly PendingDeletion[],
  all: readonly PendingDeletion[],
  { isOnlyMirror, isCut }: { isOnlyMirror: boolean; isCut: boolean },
  token: string,
): { id: string; head: Html } {
  const { mirror, path } = group[0]!
  const above = folderAbove(path)
  const folder = fullPath(mirror, above)
  const name = isOnlyMirror && above !== '' ? above : folder
  const images = all.filter(each => isAtOrBelow(fullPath(each.mirror, each.path), folder)).length
  const of = `of ${name}${images > group.length ? ' and the folders in it' : ''}`
  const reasons = Map.groupBy(group, ({ reason }) => reason)
  const counts = [...reasons].map(([why, { length }]) => `${inDigits(length)} ${inWords(WHY_IN_ESCROW[why])}`)
  const head = html`<div class="wide">${cutName(name, folder)}
<p class="aside">${count(group.length, 'image')}: ${counts.join(', ')}</p></div>
${!isCut && decide(token, { images, of, path: folder })}`
  return { id: `held-in-${folder}`, head }
}

function heldRow(
  { mirror, path, reason, since, goes_at, image_id }: PendingDeletion,
  token: string,
  isWhole: boolean,
): Html {
  const full = fullPath(mirror, path)
  return html`<li class="row" id="held-${image_id}"><div class="wide">${cutName(isWhole ? path : nameOf(path), full)}
<p class="aside">${isWhole && `${inWords(WHY_IN_ESCROW[reason])}, `}since ${time(since)}${goes_at !== null && html`, until ${time(goes_at)}`}</p></div>
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
${asksFirst(`Discard${all}`, what, `This keeps ${what} on the host for good. albumd never deletes ${images === 1 ? 'it' : 'them'} later.`, button('discard', 'Keep'))}</div>`
}
