import type { FileRow } from '../../synced/tables/files.ts'
import type { HistoryRow } from '../../synced/tables/history.ts'
import { codeOf, inWords } from '../../words/reasons.ts'
import { type PastEvent, timeOf } from './explanation.ts'

const STANDING: ReadonlySet<string> = new Set(['uploaded', 'adopted', 'linked', 'unchanged'])
const WAITING: ReadonlySet<string> = new Set(['pending', 'failed'])

/** A path's history as people read it: with the moment when a new picture was found, which its later note holds. */
export function pastOf(rows: readonly HistoryRow[], file: FileRow | undefined): PastEvent[] {
  const past: (Omit<PastEvent, 'at'> & { at: number })[] = []
  let isNew = true
  for (const { at, event, detail, since } of rows) {
    if (event === 'changed') isNew = false
    if (STANDING.has(event)) {
      if (isNew && since !== null) past.push({ at: since, event: 'found', detail: null })
      isNew = false
    }
    if (event === 'gone') isNew = true
    const code = detail && codeOf(detail)
    past.push({
      at,
      event: code === 'perhaps_renamed' ? 'in_doubt' : event,
      detail: detail && inWords(detail),
    })
  }
  const found = file && WAITING.has(file.state) && file.image === null && isNew ? file.since : null
  if (found !== null) past.push({ at: found, event: 'found', detail: null })
  // A clock that was set back leaves notes in the order of what happened.
  const inOrder = past.every((one, at) => one.event !== 'found' || at === 0 || past[at - 1]!.at <= one.at)
  const sorted = inOrder ? past : past.toSorted((a, b) => a.at - b.at)
  return sorted.map(one => ({ ...one, at: timeOf(one.at) }))
}
