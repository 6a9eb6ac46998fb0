import type { RequestEvent } from '../remote/gate/gate.ts'
import type { SpokenEvent } from '../sync/pass-events.ts'
import type { Synced } from '../synced/synced.ts'
import type { FindingKind } from '../synced/tables/audit.ts'

/** An event of the daemon itself, outside its passes. The log uses the same names for the events. */
export type DaemonEvent =
  | { event: 'audit_found'; kind: FindingKind; album: string; name: string; detail: string }
  | { event: 'audit_finished'; albums: number; findings: number; skipped: number }
  | { event: 'audit_waits'; code: string; message: string }
  | { event: 'asked_for'; what: string }
  | { event: 'config_taken' }
  | { event: 'config_refused'; message: string }
  | { event: 'key_taken' }
  | { event: 'key_refused'; message: string }
  /** No heartbeat arrived. Published once, and again only after a heartbeat has arrived. */
  | { event: 'heartbeat_failed'; message: string }
  | { event: 'heartbeat_works' }
  /** The store that the machines share can't be used. Published once, and again only after it has answered. */
  | { event: 'store_away'; message: string }
  | { event: 'store_answers' }
  /** What kept the daemon from its work has passed. A warning had told of it. */
  | { event: 'albumd_works_again' }
  | { event: 'trouble'; code: string; message: string }
  | { event: 'trouble_resolved' }
  | { event: 'trouble_command_failed'; message: string }
  /** `notify.on_upload` failed. `path`: null for many pictures. Published once while it fails in the same way. */
  | { event: 'upload_command_failed'; path: string | null; message: string }

export interface Sending {
  /** The mirror's folder, and the path below it. */
  mirror: string
  path: string
  /** Bytes. */
  size: number
  /** Bytes that have been sent. Null: the upload has ended, with or without success. */
  sent: number | null
}

export interface Topics {
  pass: SpokenEvent
  /** The events of a pass without repetitions: see `newsFilter`. */
  news: SpokenEvent
  daemon: DaemonEvent
  say: string
  /** A pass has ended and has tried all of its uploads. */
  passEnded: Synced
  /** The daemon has taken a step. Published at least once a minute while the loop rests, and often while it works. */
  alive: undefined
  /** Deletions need not wait any more for a doubt whether another machine has the albums. */
  doubtEnded: undefined
  request: RequestEvent
  sending: Sending
}

/** Calls listeners (the log, the page, the notices) at once with each event of engine and daemon, in order. */
export class Bus {
  readonly #listeners = new Map<keyof Topics, Set<(event: never) => void>>()

  on<Topic extends keyof Topics>(topic: Topic, listener: (event: Topics[Topic]) => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set()
    this.#listeners.set(topic, listeners.add(listener))
    return () => void listeners.delete(listener)
  }

  publish<Topic extends keyof Topics>(topic: Topic, event: Topics[Topic]): void {
    for (const listener of this.#listeners.get(topic) ?? []) listener(event as never)
  }

  hears(topic: keyof Topics): boolean {
    return (this.#listeners.get(topic)?.size ?? 0) > 0
  }

  readonly alive = (): void => this.publish('alive', undefined)
  readonly say = (line: string): void => this.publish('say', line)
  readonly note = (event: DaemonEvent): void => this.publish('daemon', event)
}

const SETTLED: ReadonlySet<SpokenEvent['event']> = new Set([
  'picture_uploaded',
  'picture_unchanged',
  'picture_linked',
  'picture_failed',
  'picture_uncertain',
])

/** Returns a function that says which events of the passes are news. The log covers months, so an event that each pass
 * repeats is news only once:
 * - `uploads_stopped` with the same code as before, for example because the quota is used up. After an upload has
 *   succeeded, the code is news again.
 * - `uploads_started` with as many pictures as before, for example of one that is being written. After an upload has ended,
 *   the number is news again.
 * - `mirror_guarded` with the same reason as before. After a scan that saw everything, the reason is news again. */
export function newsFilter(): (emitted: SpokenEvent) => boolean {
  const last = new Map<string, string>()
  const isNew = (what: string, is: string) => {
    const wasAnother = last.get(what) !== is
    last.set(what, is)
    return wasAnother
  }
  return emitted => {
    if (SETTLED.has(emitted.event)) last.delete('uploads_started')
    switch (emitted.event) {
      case 'uploads_stopped':
        return isNew('uploads_stopped', emitted.code)
      case 'uploads_started':
        return isNew('uploads_started', `${emitted.pictures} ${emitted.compare}`)
      case 'mirror_guarded':
        return isNew(`mirror_guarded ${emitted.mirror}`, emitted.reason)
      case 'picture_uploaded':
        last.delete('uploads_stopped')
        return true
      case 'scan_finished':
        if (emitted.complete) last.delete(`mirror_guarded ${emitted.mirror}`)
        return true
      default:
        return true
    }
  }
}
