import type { Tell } from '../sync/pass-events.ts'
import type { Synced } from '../synced/synced.ts'
import type { Note } from './daemon-event.ts'

/** Who hears of the daemon's work. */
export interface Listener {
  tell: Tell
  /** Something that a person should know, in a line. */
  say: (line: string) => void
  /** After each pass that has tried all of its uploads. */
  onPass: (synced: Synced) => void
  /** What the daemon does beside its passes. */
  note: Note
  /** The loop goes on: at least once a minute while it rests. */
  alive?: () => void
}
