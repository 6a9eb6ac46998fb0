import type { OpenPicture } from '../local/picture-file.ts'
import type { FileRow } from '../synced/files.ts'
import type { Clock } from './clock.ts'
import type { FileAges } from './file-ages.ts'
import type { UploadResult } from './upload-result.ts'

/** What becomes of a picture that stays incomplete. */
export interface IncompletePolicy {
  /** How long after its last change it is taken for one that stays so, in milliseconds. */
  afterMs: number
  /** leave: it is a failure until it changes. send: it is sent as it is. */
  deed: 'leave' | 'send'
}

export interface IncompleteParts {
  settleMs: number
  clock: Clock
  ages: FileAges
}

type Waits = Extract<UploadResult, { kind: 'waits' }>
type Read = Pick<OpenPicture, 'ending' | 'look' | 'hash'>

/**
 * For so long a picture that was found incomplete is not read again while it looks the same. It is then, for what is
 * written through a memory map comes without an event.
 */
const READ_AGAIN_MS = 30_000

/** Those that were deleted meanwhile must not add up over a year. What is forgotten is read once more. */
const MOST_KNOWN = 1000

/** For so long a picture is left alone that may have room that its writer has yet to fill. */
const BLANK_MS = 60_000

/** Pictures that are not all there: those that are being written, and those whose writer has gone away. */
export class IncompletePictures {
  readonly #policy: IncompletePolicy
  readonly #waiting = new Map<string, { look: Read['look']; message: string; from: number; end: number }>()

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

  /** What a picture that was read waits or fails for. Null: it is complete, or is to be sent as it is. */
  judge({ settleMs, clock, ages }: IncompleteParts, file: FileRow, read: Read): UploadResult | null {
    const { ending, look, hash } = read
    const { deed } = this.#policy
    this.#waiting.delete(keyOf(file))
    if (ending.kind !== 'cut' && ending.kind !== 'blank') return null
    const cut = ending.kind === 'cut'
    const afterMs = Math.max(settleMs, cut ? this.#policy.afterMs : Math.min(BLANK_MS, this.#policy.afterMs))
    // Only a clock that was set back, or another machine's, stamps a file in the future: it is no younger for that.
    const age = Math.abs(clock.wall() - look.ctime / 1000)
    // Sending half takes a clock that is known not to have leapt; a failure harms nothing.
    const known = cut && deed === 'send' ? Math.min(age, ages.since(look.ctime, clock)) : age
    const why = cut ? `it is not complete: ${ending.missing}` : 'part of it is only zeros'
    if (known < afterMs) {
      const message = `${why}; it may still be written`
      const from = clock.monotonic()
      if (this.#waiting.size >= MOST_KNOWN) this.#waiting.delete(this.#waiting.keys().next().value!)
      this.#waiting.set(keyOf(file), { look, message, from, end: from + afterMs - known })
      return { kind: 'waits', message, retryInMs: afterMs - known }
    }
    if (!cut || deed === 'send') return null
    return { kind: 'failed', code: 'PICTURE_INCOMPLETE', message: `${why}; ${REMEDY}`, retryAt: null, hash }
  }
}

const REMEDY =
  'it is left until it changes; to have such pictures sent as they are, set watch.incomplete to send, then run "albumd retry"'

function keyOf({ folder, name }: FileRow): string {
  return `${folder} ${name}`
}

function isSameLook(a: Read['look'], b: Read['look']): boolean {
  return a.size === b.size && a.mtime === b.mtime && a.ctime === b.ctime && a.ino === b.ino
}
