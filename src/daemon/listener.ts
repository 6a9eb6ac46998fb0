import type { RequestEvent } from '../remote/gate/gate.ts'
import type { Tell } from '../sync/pass-events.ts'
import type { Synced } from '../synced/synced.ts'
import type { Note } from './daemon-event.ts'
import type { TellSending } from './report/uploads-under-way.ts'

/** Who hears of the daemon's work. */
export interface Listener {
  tell: Tell
  /** Something that a person should know, in a line. */
  say: (line: string) => void
  /** After each pass that has tried all of its uploads. */
  onPass: (synced: Synced) => void
  /** What the daemon does beside its passes. */
  note: Note
  /** Something was done, or the loop goes on: at least once a minute while it rests. */
  alive?: () => void
  /** So often it wants to be told while the loop rests, in milliseconds; left out: once a minute will do. */
  aliveEveryMs?: number
  /** A request to the host has ended. */
  requested?: (request: RequestEvent) => void
  /** A picture is on its way to the host. */
  sending?: TellSending
}
