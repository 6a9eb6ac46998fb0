import { realDisk } from '../../local/disk.ts'
import { isSameLook } from '../../local/look.ts'
import type { HostFailure } from '../../remote/host.ts'
import type { SpokenEvent } from '../../sync/pass-events.ts'
import type { MirrorLocation } from '../../sync/scan/index.ts'
import { fileAt, fullPath } from '../../sync/tree-path.ts'
import { inWords } from '../../words/reasons.ts'
import { orNull } from '../or-null.ts'
import { type ExplainContext, type Explanation, explain, whyNotThere } from './explain.ts'
import { recordedAt } from './mirrored-pictures.ts'
import { stepInWords } from './step.ts'

export interface Ended {
  isRefused: boolean
  /** Why the pass left a picture of which the records say nothing. */
  why: { code: string; reason: string } | null
}

export interface Sent {
  path: string
  /** The delivery address. Null: the picture as it is now is not on the host. */
  cdn_url: string | null
  /** Why it is not there, for a program. NOT_READY: the file is empty or still being written. INTERRUPTED: a person ended the
   * command. PAUSED: albumd is paused. GUARDED: the mirror's folder is in doubt. GONE, MOVED, LEFT_OUT: the file is not in
   * its place any more, or not mirrored any more. NOT_POSSIBLE: --to refused it. WAITS: for something else. Every other code is
   * a failure's or the host's. Null: it is there. */
  code: string | null
  /** Why it is not there and what comes next, for a person, as `albumd why` says it. Null: it is there. */
  reason: string | null
}

/** What became of these pictures, as they lie on the disk at this moment. A record with the ctime 0 (the file was read just after
 * it was written, and may have changed since) is taken for the file on the disk only after the pass. `ended`: the pass; null
 * before it. `steps`: how many of the steps that come next are told. */
export function sentPictures(
  context: Omit<ExplainContext, 'disk'>,
  places: readonly MirrorLocation[],
  ended: Ended | null,
  steps = Number.POSITIVE_INFINITY,
): Sent[] {
  const { synced } = context
  return places.map(place => {
    const path = fullPath(place.mirror.folder, place.path)
    const row = synced.mirrors.of(place.mirror.folder)
    const file = row && fileAt(synced, row.id, place.path)
    const recorded = recordedAt(synced, place)
    const picture = recorded.kind === 'picture' ? recorded.picture : null
    const look = orNull(() => realDisk.lstat(path))
    const ctime = ended && file?.ctime === 0 ? look?.ctime : file?.ctime
    const isSent = picture?.state === 'synced' || picture?.state === 'linked'
    const isThere = isSent && look !== null && isSameLook({ ...file!, ctime: ctime! }, look)
    if (isThere && picture.url) return { path, cdn_url: picture.url, code: null, reason: null }
    const told = explain({ ...context, disk: realDisk }, place)
    const why = whyNotThere(told)
    const { code, reason } = (why.code === 'WAITS' && ended?.why) || why
    return { path, cdn_url: null, code, reason: withSteps(reason, told, steps) }
  })
}

function withSteps(reason: string, { cause, next }: Explanation, most: number): string {
  // A reason of two sentences says what to do.
  const steps =
    cause === null && !reason.includes('. ') ? next.slice(0, most).map(step => stepInWords(step)) : []
  return (steps[0]?.startsWith(reason) ? steps : [reason, ...steps]).join('; ')
}

const ENDS: ReadonlySet<SpokenEvent['event']> = new Set([
  'picture_uploaded',
  'picture_unchanged',
  'picture_linked',
  'picture_failed',
  'picture_uncertain',
])

/** Hears a pass that sends these absolute paths. `done` is aborted when the last of them is done. The pass may go on with other
 * pictures. */
export function endsOf(paths: readonly string[]): {
  emit(emitted: SpokenEvent): void
  done: AbortController
} {
  const left = new Set(paths)
  const done = new AbortController()
  const emit = (emitted: SpokenEvent) => {
    if (!('path' in emitted) || !ENDS.has(emitted.event)) return
    left.delete(fullPath(emitted.mirror, emitted.path))
    if (left.size === 0) done.abort()
  }
  return { emit, done }
}

export function whyStopped({ stopped: [first] }: { stopped: readonly HostFailure[] }): Ended['why'] {
  return first ? { code: first.code, reason: inWords(first.message) } : null
}
