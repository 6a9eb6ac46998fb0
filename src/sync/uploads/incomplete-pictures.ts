import { isSameLook } from '../../local/look.ts'
import type { OpenPicture } from '../../local/picture-file.ts'
import type { Clock } from '../../protocol/clock.ts'
import { type FileKey, type FileRow, textOf } from '../../synced/tables/files.ts'
import { because, type Reason } from '../../words/reasons.ts'
import type { EngineContext } from '../context.ts'
import { type AgeContext, leftAloneMs } from './settled-picture.ts'
import type { UploadJob, UploadResult, Waits } from './upload-job.ts'

/** What becomes of a picture that is not all there, or whose form is broken. */
export interface IncompletePolicy {
  /** After how many milliseconds without a change nobody writes the picture any more. */
  afterMs: number
  /** What becomes of a picture that lacks something. leave: it fails until it changes. send: it is sent as it is. */
  action: 'leave' | 'send'
}

type Read = Pick<OpenPicture, 'verdict' | 'look' | 'hash'>

/** For how long an incomplete picture that looks the same is not read again. A writer through a memory map changes times late. */
const READ_AGAIN_MS = 30_000

/** A picture that lacked something and changes within this time is still being written for the first time, not edited. */
const JUST_MS = 2000

/** The most pictures that are remembered. A forgotten one is only read once more. */
const MOST_KNOWN = 1000

/** How long a picture waits with zeros where its pixels are, because its writer may fill this stretch later. */
const ZEROS_MS = 60_000

/** A picture that waits. Times are monotonic milliseconds. */
interface Waiting extends Pick<Read, 'look' | 'hash'> {
  /** missing and odd: the verdict about it. restless: it changed while albumd waited for it to rest. */
  why: 'missing' | 'odd' | 'restless'
  message: Reason
  /** Since when its size, times and bytes have not changed. */
  since: number
  /** When it was last read. */
  from: number
  /** When its wait ends. */
  end: number
}

/** Remembers pictures that are being written, or whose writer stopped too early. Other pictures do not wait for them. */
export class IncompletePictures {
  readonly #policy: IncompletePolicy
  readonly #waiting = new Map<string, Waiting>()

  constructor(policy: IncompletePolicy) {
    this.#policy = policy
  }

  /** Why a picture still waits that was read a moment ago and has not changed since. A restless picture waits even after a
   * change, so that a picture that is written all the time is not read all the time. Null: the picture must be read. */
  recall(file: FileRow, clock: Clock): Waits | null {
    const known = this.#waiting.get(textOf(file))
    if (!known || (known.why !== 'restless' && !isSameLook(known.look, file))) return null
    const now = clock.monotonic()
    if (now >= Math.min(known.end, known.from + READ_AGAIN_MS)) return null
    return { kind: 'waits', message: known.message, retryInMs: known.end - now }
  }

  /** Whether the picture had changed when it was last read, while albumd waited for it to rest. */
  isRestless(file: FileKey): boolean {
    return this.#waiting.get(textOf(file))?.why === 'restless'
  }

  /** Decides about a restless picture that was just read. Null: it was the same for `settleMs`. Otherwise it waits. */
  rest(
    { settleMs, clock }: Pick<EngineContext, 'settleMs' | 'clock'>,
    file: FileKey,
    read: Read,
  ): Waits | null {
    const from = clock.monotonic()
    const since = this.isRestless(file) ? this.#sameSince(file, read, from) : from
    const end = since + settleMs
    return this.#wait(file, read, { why: 'restless', message: because('still_written'), since, from, end })
  }

  /** Whether something was missing a moment ago, so that the first writer is still at work, and no editor. */
  wasJustMissing(file: FileKey, clock: Clock): boolean {
    const known = this.#waiting.get(textOf(file))
    return known?.why === 'missing' && clock.monotonic() - known.from < JUST_MS
  }

  /** Decides whether a picture that was just read waits, fails, or can be sent (null). Nobody works on an odd picture any more
   * that has not changed for long enough. */
  judge(
    context: AgeContext & Pick<EngineContext, 'settleMs'>,
    job: Pick<UploadJob, 'file' | 'root' | 'path'>,
    read: Read,
  ): UploadResult | null {
    const { settleMs, clock } = context
    const { file } = job
    const { verdict, look, hash } = read
    const { afterMs, action } = this.#policy
    const from = clock.monotonic()
    const since = this.#sameSince(file, read, from)
    this.#waiting.delete(textOf(file))
    if (verdict.kind === 'closed') return null
    const { kind, code, part, at } = verdict
    const why = because(`flaw_${code}`, { part, at })
    const waitMs = Math.max(settleMs, code === 'zeros' ? Math.min(ZEROS_MS, afterMs) : afterMs)
    const fails = kind === 'missing' && action === 'leave'
    // A ctime in the future comes from a wrong clock. An hour ahead counts as an hour ago, so that the wait is short.
    const age = Math.abs(clock.wall() - look.ctime / 1000)
    // Failing early does no harm. Sending needs an age that no set clock has changed, or that albumd has seen itself.
    const known = fails ? age : Math.max(leftAloneMs(context, job, look.ctime, 'likelySince'), from - since)
    const message = because(fails ? 'incomplete' : 'odd', { why })
    const waits = this.#wait(file, read, { why: kind, message, since, from, end: from + waitMs - known })
    if (waits || !fails) return waits
    const stays = because('stays_incomplete', { why })
    return { kind: 'failed', code: 'PICTURE_INCOMPLETE', message: stays, retryAt: null, hash }
  }

  /** Since when the picture has not changed, as this read and the last one show. Monotonic milliseconds. */
  #sameSince(file: FileKey, { look, hash }: Read, now: number): number {
    const before = this.#waiting.get(textOf(file))
    return before && isSameLook(before.look, look) && before.hash.equals(hash) ? before.since : now
  }

  /** Makes a picture wait. Null: its wait has ended already. */
  #wait(file: FileKey, { look, hash }: Read, wait: Omit<Waiting, 'look' | 'hash'>): Waits | null {
    this.#waiting.delete(textOf(file))
    if (wait.end <= wait.from) return null
    if (this.#waiting.size >= MOST_KNOWN) this.#waiting.delete(this.#waiting.keys().next().value!)
    this.#waiting.set(textOf(file), { look, hash, ...wait })
    return { kind: 'waits', message: wait.message, retryInMs: wait.end - wait.from }
  }
}
