import { type CommandName, commandNamed, type RequestOf } from '../daemon/commands/all.ts'
import type { CommandQueue } from '../daemon/commands/queue.ts'
import { HOUR_MS } from '../protocol/clock.ts'

export interface PageCommand {
  id: number
  what: string
  state: 'waits' | 'under way' | 'done' | 'refused'
  why: string | null
  /** When the command was done or refused, by the clock of PageCommands. */
  ended: number | null
}

export type Fields = Readonly<Record<string, unknown>>

/** How many commands the page shows, and for how many milliseconds after their end. */
const SHOWN = 4
const SHOWN_MS = { done: 15_000, refused: 5 * 60_000 }

/** The pauses that the form offers, in milliseconds. Null: until `resume`. */
const PAUSES = new Map<unknown, number | null>([
  ['1h', HOUR_MS],
  ['8h', 8 * HOUR_MS],
  ['', null],
])

const WORDS = {
  approve: 'Approving the deletion of',
  discard: 'Keeping on the host',
} as const

/** The commands that people gave on the page, and their outcome. The daemon carries them out between its passes. */
export class PageCommands {
  readonly #commands: PageCommand[] = []
  readonly #now: () => number
  #nextId = 1

  /** `now`: milliseconds on a clock that only goes forward. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Queues the command that a form of the page asks for. Returns false when the page has no such form. */
  askFor(queue: CommandQueue, name: string, fields: Fields): boolean {
    const path = pathIn(fields)
    if (path === undefined) return false
    const of = path === null ? {} : { path }
    switch (name) {
      case 'retry':
        this.#ask(queue, 'retry', of, `Retrying ${path ?? 'all'}`)
        return true
      case 'resume':
        this.#ask(queue, 'resume', {}, 'Resuming')
        return true
      case 'pause': {
        const forMs = PAUSES.get(fields.for)
        if (forMs === undefined) return false
        this.#ask(queue, 'pause', { forMs }, 'Pausing')
        return true
      }
      case 'approve':
      case 'discard': {
        // The form says which deletions the person saw, because others may wait by now.
        const { seen } = fields
        if (typeof seen !== 'string') return false
        this.#ask(
          queue,
          'deletions',
          { action: name, ...of, seen },
          `${WORDS[name]} ${path ?? 'all that wait'}`,
        )
        return true
      }
      default:
        return false
    }
  }

  latest(): PageCommand[] {
    const now = this.#now()
    const isShown = ({ state, ended }: PageCommand) =>
      ended === null || now < ended + (state === 'done' ? SHOWN_MS.done : SHOWN_MS.refused)
    return this.#commands.filter(isShown).toReversed()
  }

  /** Queues the command and returns at once, because the command may take hours. */
  #ask<N extends CommandName>(queue: CommandQueue, name: N, request: RequestOf<N>, what: string): void {
    const command: PageCommand = { id: this.#nextId++, what, state: 'waits', why: null, ended: null }
    this.#commands.push(command)
    if (this.#commands.length > SHOWN) this.#commands.shift()
    const becomes = (state: PageCommand['state'], why: string | null = null) =>
      void Object.assign(command, { state, why, ended: state === 'under way' ? null : this.#now() })
    queue.ask(commandNamed(name)!, request, { begun: () => becomes('under way') }).then(
      () => becomes('done'),
      error => becomes('refused', (error as Error).message),
    )
  }
}

/** The path that a form names. Null: the form names no path, so the command is for all files. Undefined: the path is not
 * valid. */
function pathIn({ path }: Fields): string | null | undefined {
  if (path === undefined) return null
  try {
    const read: unknown = JSON.parse(String(path))
    // An empty path is refused, because an empty path would mean all files.
    return typeof read === 'string' && read.startsWith('/') ? read : undefined
  } catch {
    return undefined
  }
}
