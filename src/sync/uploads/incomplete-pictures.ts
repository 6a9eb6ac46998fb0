import { isSameLook } from '../../local/look.ts'
import type { OpenPicture } from '../../local/picture-file.ts'
import type { Clock } from '../../protocol/clock.ts'
import { type FileKey, type FileRow, textOf } from '../../synced/tables/files.ts'
import { because, type Reason } from '../../words/reasons.ts'
import type { EngineContext } from '../context.ts'
import { type AgeContext, leftAloneMs } from './settled-picture.ts'
import type { UploadJob, UploadResult, Waits } from './upload-job.ts'

/** What becomes of a picture whose end stays missing. */
export interface IncompletePolicy {
  /** When the picture has not changed for so many milliseconds, albumd assumes that nobody writes it any more. */
  afterMs: number
  /** leave: the picture fails, until it changes. send: the picture is sent without its end. */
  action: 'leave' | 'send'
}

type Read = Pick<OpenPicture, 'ending' | 'look' | 'hash'>

/** For so many milliseconds a picture whose end was missing is not read again, as long as its size and times stay the same.
 * Afterwards it is read again, because a program that writes through a memory map changes the times late. */
const READ_AGAIN_MS = 30_000

/** A picture was read without its end, and changes within so many milliseconds. Then the program that writes it for the
 * first time has changed it, and not an editor. */
const JUST_MS = 2000

/** How many pictures are remembered at most. A forgotten picture is only read once more. */
const MOST_KNOWN = 1000

/** How long a picture waits that contains a long stretch of zeros, because its writer may fill this stretch later. */
const BLANK_MS = 60_000

/** A picture that waits. Times are monotonic milliseconds. */
interface Waiting extends FileKey, Pick<Read, 'look' | 'hash'> {
  /** cut: its end was missing. blank: it contains a long stretch of zeros. restless: it changed while albumd waited for it to
   * rest. */
  why: 'cut' | 'blank' | 'restless'
  message: Reason
  /** Since when its size, times and bytes have not changed. */
  since: number
  /** When it was last read. */
  from: number
  /** When its wait ends. */
  end: number
}

/** Remembers pictures that somebody is writing, or whose writer has stopped too early. While such a picture waits, it holds up
 * no other picture. */
export class IncompletePictures {
  readonly #policy: IncompletePolicy
  readonly #waiting = new Map<string, Waiting>()

  constructor(policy: IncompletePolicy) {
    this.#policy = policy
  }

  /** What a picture waits for, if it was read a moment ago and has not changed since. A restless picture has to wait although
   * it has changed, so that a picture that is written all the time is not read all the time. Null: the picture must be read. */
  recall(file: FileRow, clock: Clock): Waits | null {
    const known = this.#waiting.get(textOf(file))
    if (!known || (known.why !== 'restless' && !isSameLook(known.look, file))) return null
    const now = clock.monotonic()
    if (now >= Math.min(known.end, known.from + READ_AGAIN_MS)) return null
    return { kind: 'waits', message: known.message, retryInMs: known.end - now }
  }

  /** Whether the picture changed while albumd waited for it, when it was last read. */
  isRestless(file: FileKey): boolean {
    return this.#waiting.get(textOf(file))?.why === 'restless'
  }

  /** Decides about a restless picture that was just read: null when it was the same at each read for `settleMs`. Otherwise it
   * waits. */
  rest(
    { settleMs, clock }: Pick<EngineContext, 'settleMs' | 'clock'>,
    file: FileKey,
    read: Read,
  ): Waits | null {
    const now = clock.monotonic()
    const since = this.isRestless(file) ? this.#sameSince(file, read, now) : now
    const end = since + settleMs
    if (now >= end) {
      this.#waiting.delete(textOf(file))
      return null
    }
    return this.#wait(file, read, {
      why: 'restless',
      message: because('still_written'),
      since,
      from: now,
      end,
    })
  }

  /** Whether the picture's end was missing when it was read a moment ago. Then the program that writes it for the first time
   * is still at work, and not an editor. */
  wasJustCut(file: FileKey, clock: Clock): boolean {
    const known = this.#waiting.get(textOf(file))
    return known?.why === 'cut' && clock.monotonic() - known.from < JUST_MS
  }

  /** Decides about a picture that was just read: it waits for its end, it fails, or it can be sent (null). */
  judge(
    context: AgeContext & Pick<EngineContext, 'settleMs'>,
    job: Pick<UploadJob, 'file' | 'root' | 'path'>,
    read: Read,
  ): UploadResult | null {
    const { settleMs, clock } = context
    const { file } = job
    const { ending, look, hash } = read
    const { action } = this.#policy
    const now = clock.monotonic()
    const since = this.#sameSince(file, read, now)
    this.#waiting.delete(textOf(file))
    const waits = waitForEnd(ending, this.#policy.afterMs, settleMs)
    if (waits === null) return null
    const { afterMs, message } = waits
    const cut = ending.kind === 'cut'
    // A ctime in the future comes from a clock that was set back, or from another machine's clock. A ctime an hour ahead is
    // taken as an hour ago, so that the picture does not wait for long.
    const age = Math.abs(clock.wall() - look.ctime / 1000)
    // Two measures of how long the picture was left alone. Before a picture fails, its age is exact enough, because failing
    // too early does no harm. Before half a picture is sent, its age must be certain (`leftAloneMs`), or albumd itself must
    // have seen the picture unchanged for so long.
    const known =
      cut && action === 'leave' ? age : Math.max(leftAloneMs(context, job, look.ctime), now - since)
    if (known < afterMs)
      return this.#wait(file, read, {
        why: cut ? 'cut' : 'blank',
        message,
        since,
        from: now,
        end: now + afterMs - known,
      })
    if (ending.kind !== 'cut' || action === 'send') return null
    return {
      kind: 'failed',
      code: 'PICTURE_INCOMPLETE',
      message: because('stays_incomplete', { missing: ending.missing }),
      retryAt: null,
      hash,
    }
  }

  /** Since when the picture has not changed, as this read and the earlier reads of the picture show. Monotonic milliseconds. */
  #sameSince(file: FileKey, { look, hash }: Read, now: number): number {
    const before = this.#waiting.get(textOf(file))
    return before && isSameLook(before.look, look) && before.hash.equals(hash) ? before.since : now
  }

  #wait(file: FileKey, { look, hash }: Read, wait: Omit<Waiting, keyof FileKey | 'look' | 'hash'>): Waits {
    const { folder, name } = file
    this.#waiting.delete(textOf(file))
    if (this.#waiting.size >= MOST_KNOWN) this.#waiting.delete(this.#waiting.keys().next().value!)
    this.#waiting.set(textOf(file), { folder, name, look, hash, ...wait })
    return { kind: 'waits', message: wait.message, retryInMs: wait.end - wait.from }
  }
}

/**
 * For a picture whose end is missing: why it waits, and for how many milliseconds after its last change. Null: it is complete.
 */
function waitForEnd(
  ending: OpenPicture['ending'],
  afterMs: number,
  settleMs: number,
): { message: Reason; afterMs: number } | null {
  switch (ending.kind) {
    case 'cut':
      return {
        message: because('incomplete', { missing: ending.missing }),
        afterMs: Math.max(settleMs, afterMs),
      }
    case 'blank':
      return { message: because('blank'), afterMs: Math.max(settleMs, Math.min(BLANK_MS, afterMs)) }
    default:
      return null
  }
}
