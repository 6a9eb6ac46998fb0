import type { FileRow, FileState } from '../../synced/tables/files.ts'
import type { HistoryEvent, HistoryRow } from '../../synced/tables/history.ts'
import { codeOf, inWords } from '../../words/reasons.ts'

/**
 * found: a scan found the picture; the records have no event of their own for this.
 * in_doubt: the picture was missing, and may have got a name that can't be mirrored.
 */
export interface PathEvent {
  /** ISO 8601. */
  at: string
  event: HistoryEvent | 'found' | 'in_doubt'
  detail: string | null
}

const STORED: ReadonlySet<HistoryEvent> = new Set(['uploaded', 'adopted', 'linked', 'unchanged'])
const OPEN: ReadonlySet<FileState> = new Set(['pending', 'failed'])

/** A path's history, oldest first. The moment when a picture was found is taken from the event of its upload. */
export function historyOf(rows: readonly HistoryRow[], file: FileRow | undefined): PathEvent[] {
  const events: (Omit<PathEvent, 'at'> & { at: number })[] = []
  let isNew = true
  for (const { at, event, detail, since } of rows) {
    if (event === 'changed') isNew = false
    if (STORED.has(event)) {
      if (isNew && since !== null) events.push({ at: since, event: 'found', detail: null })
      isNew = false
    }
    if (event === 'gone') isNew = true
    const isInDoubt = detail !== null && codeOf(detail) === 'perhaps_renamed'
    events.push({ at, event: isInDoubt ? 'in_doubt' : event, detail: detail && inWords(detail) })
  }
  const found = file && OPEN.has(file.state) && file.image === null && isNew ? file.since : null
  if (found !== null) events.push({ at: found, event: 'found', detail: null })
  // When the clock was set back, the order of the records is right and the times are not.
  const isInOrder = events.every(
    ({ at, event }, n) => event !== 'found' || n === 0 || events[n - 1]!.at <= at,
  )
  const sorted = isInOrder ? events : events.toSorted((a, b) => a.at - b.at)
  return sorted.map(event => ({ ...event, at: new Date(event.at).toISOString() }))
}
