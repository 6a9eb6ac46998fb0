import type { Errands } from '../daemon/control/errands.ts'
import type { Wishes } from './wishes.ts'

/** The fields of a form. */
export type Fields = Readonly<Record<string, unknown>>

const HOUR_MS = 3_600_000
const PAUSES: Readonly<Record<string, number | null>> = { '1h': HOUR_MS, '8h': 8 * HOUR_MS, '': null }

/** What the page's buttons can ask for. Answers false where the form is none of the page's. */
export function askFor(wishes: Wishes, errands: Errands, deed: string, fields: Fields): boolean {
  const path = pathIn(fields)
  if (path === undefined) return false
  const of = path === null ? {} : { path }
  const what = path ?? 'all'
  switch (deed) {
    case 'retry':
      wishes.ask(errands, 'retry', of, path === null ? 'Retrying all' : `Retrying ${what}`)
      return true
    case 'approve':
    case 'discard':
      wishes.ask(
        errands,
        'deletions',
        { action: deed, ...of },
        `${WORDS[deed]} ${path ?? 'all held deletions'}`,
      )
      return true
    case 'pause': {
      const forMs = typeof fields.for === 'string' ? PAUSES[fields.for] : undefined
      if (forMs === undefined) return false
      wishes.ask(errands, 'pause', { forMs }, 'Pausing')
      return true
    }
    case 'resume':
      wishes.ask(errands, 'resume', {}, 'Resuming')
      return true
    default:
      return false
  }
}

const WORDS = { approve: 'Approving', discard: 'Discarding' } as const

/** Null: all are meant. Undefined: that is no path. */
function pathIn({ path }: Fields): string | null | undefined {
  if (path === undefined) return null
  try {
    const read: unknown = JSON.parse(String(path))
    // An empty one would mean everything.
    return typeof read === 'string' && read.startsWith('/') ? read : undefined
  } catch {
    return undefined
  }
}
