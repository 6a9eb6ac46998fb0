import { count } from '../../daemon/quantities.ts'
import type { HeldDeletion } from '../../daemon/report/held-deletions.ts'
import { fullPath } from '../../sync/tree-path.ts'
import type { Facts } from '../facts.ts'
import { type Html, html } from '../html.ts'
import { time } from '../words.ts'
import { entries } from './entries.ts'
import { deedButton } from './form.ts'

/** Deletions that wait for a word. `token`: for its buttons. */
export function held({ recorded }: Facts, token: string): Html | null {
  if (recorded === null || recorded.held.length === 0) return null
  const all = Math.max(
    recorded.held.length,
    recorded.status.mirrors.reduce((sum, { held_deletions }) => sum + held_deletions, 0),
  )
  const images = count(all, 'image')
  const rows = recorded.held.map(given => row(given, token))
  return html`<h2>Held deletions <span class="aside">${all.toLocaleString('en')}</span></h2>
<p>Unusually many pictures are gone here, so their images wait for your word. <b>Approve</b> lets an image be deleted for
good; <b>discard</b> drops the deletion and keeps the image on the host.</p>
<div class="row">${deedButton(token, 'discard', 'Discard all', { most: all })}
<details data-kind="bad"><summary>Approve all…</summary><p>This deletes ${images} on the host. They can not be had back from there.</p>
${deedButton(token, 'approve', `Delete ${images}`, { most: all, kind: 'bad' })}</details></div>
${entries(rows, all, 'albumd deletions list')}`
}

const REASONS: Readonly<Record<string, string>> = {
  deleted: 'its picture is gone',
  superseded: 'an old version of its picture',
  ignored: 'a rule hides its picture',
}

function row({ mirror, path, reason, since, image }: HeldDeletion, token: string): Html {
  const full = fullPath(mirror, path)
  return html`<li class="row" id="held-${image.id}"><div class="wide"><b class="name" title="${full}">${path}</b>
<p class="aside">${REASONS[reason] ?? reason}, since ${time(since)}</p></div>
<div class="row">${deedButton(token, 'approve', 'Approve', { path: full, about: path, kind: 'bad' })}
${deedButton(token, 'discard', 'Discard', { path: full, about: path })}</div></li>`
}
