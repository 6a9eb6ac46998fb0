import type { OpenPicture } from '../../local/picture-file.ts'
import type { FileKey, FileRow } from '../../synced/tables/files.ts'
import type { Clock } from '../clock.ts'
import type { EngineContext } from '../context.ts'
import { type AgeContext, leftAloneMs } from './settled-picture.ts'
import type { UploadJob } from './upload-job.ts'
import type { UploadResult } from './upload-result.ts'

/** What becomes of a picture that stays incomplete. */
export interface IncompletePolicy {
  /** How long after its last change it is taken for one that stays so, in milliseconds. */
  afterMs: number
  /** leave: it is a failure until it changes. send: it is sent as it is. */
  deed: 'leave' | 'send'
}

type Waits = Extract<UploadResult, { kind: 'waits' }>
type Read = Pick<OpenPicture, 'ending' | 'look' | 'hash'>

/**
 * For so long a picture that was found incomplete is not read again while it looks the same. It is then, for what is
 * written through a memory map comes without an event.
 */
const READ_AGAIN_MS = 30_000

/** Nobody opens a picture in an editor so soon after its end was written. */
const JUST_MS = 2000

/** Those that were deleted meanwhile must not add up over a year. What is forgotten is read once more. */
const MOST_KNOWN = 1000

/** For so long a picture is left alone that may have room that its writer has yet to fill. */
const BLANK_MS = 60_000

/** One that waits. Times are monotonic milliseconds. */
interface Waiting extends Pick<Read, 'look' | 'hash'> {
  cut: boolean
  message: string
  /** Since when it has been seen as it is. */
  since: number
  /** When it was last read. */
  from: number
  /** When it has waited for long enough. */
  end: number
}

/** Pictures that are not all there: those that are being written, and those whose writer has gone away. */
export class IncompletePictures {
  readonly #policy: IncompletePolicy
  readonly #waiting = new Map<string, Waiting>()

  constructor(policy: IncompletePolicy) {
    this.#policy = policy
  }

  /** What a picture waits for that was read a moment ago and looks as it did then; null where it is to be read. */
  recall(file: FileRow, clock: Clock): Waits | null {
    const known = this.#waiting.get(keyOf(file))
    if (!known || !isSameLook(known.look, file)) return null
    const now = clock.monotonic()
    if (now >= Math.min(known.end, known.from + READ_AGAIN_MS)) return null
    return { kind: 'waits', message: known.message, retryInMs: known.end - now }
  }

  /** Whether part of it was missing when it was read a moment ago: whoever writes it is no editor of what was whole. */
  wasJustCut(file: FileKey, clock: Clock): boolean {
    const known = this.#waiting.get(keyOf(file))
    return known?.cut === true && clock.monotonic() - known.from < JUST_MS
  }

  /** What a picture that was read waits or fails for. Null: it is complete, or is to be sent as it is. */
  judge(
    context: AgeContext & Pick<EngineContext, 'settleMs'>,
    job: Pick<UploadJob, 'file' | 'root' | 'path'>,
    read: Read,
  ): UploadResult | null {
    const { settleMs, clock } = context
    const { file } = job
    const { ending, look, hash } = read
    const { deed } = this.#policy
    const before = this.#waiting.get(keyOf(file))
    this.#waiting.delete(keyOf(file))
    if (ending.kind !== 'cut' && ending.kind !== 'blank') return null
    const cut = ending.kind === 'cut'
    const afterMs = Math.max(settleMs, cut ? this.#policy.afterMs : Math.min(BLANK_MS, this.#policy.afterMs))
    const now = clock.monotonic()
    const since = before && isSameLook(before.look, look) && before.hash.equals(hash) ? before.since : now
    // Only a clock that was set back, or another machine's, stamps a file in the future: it is no younger for that.
    const age = Math.abs(clock.wall() - look.ctime / 1000)
    // A failure harms nothing. Sending half takes a clock that is known not to have leapt, or that time before our eyes.
    const known = cut && deed === 'leave' ? age : Math.max(leftAloneMs(context, job, look.ctime), now - since)
    const why = cut ? `it is not complete: ${ending.missing}` : 'part of it is only zeros'
    if (known < afterMs) {
      const message = `${why}; it may still be written`
      if (this.#waiting.size >= MOST_KNOWN) this.#waiting.delete(this.#waiting.keys().next().value!)
      this.#waiting.set(keyOf(file), {
        look,
        hash,
        cut,
        message,
        since,
        from: now,
        end: now + afterMs - known,
      })
      return { kind: 'waits', message, retryInMs: afterMs - known }
    }
    if (!cut || deed === 'send') return null
    return { kind: 'failed', code: 'PICTURE_INCOMPLETE', message: `${why}; ${REMEDY}`, retryAt: null, hash }
  }
}

const REMEDY =
  'it is left until it changes; to have such pictures sent as they are, set watch.incomplete to send, then run "albumd retry"'

function keyOf({ folder, name }: FileKey): string {
  return `${folder} ${name}`
}

function isSameLook(a: Read['look'], b: Read['look']): boolean {
  return a.size === b.size && a.mtime === b.mtime && a.ctime === b.ctime && a.ino === b.ino
}
