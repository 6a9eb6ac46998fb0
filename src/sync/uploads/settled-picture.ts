import { dirname } from 'node:path/posix'
import { type Disk, isCoarse } from '../../local/disk.ts'
import type { OpenPicture } from '../../local/picture-file.ts'
import type { EngineContext } from '../context.ts'
import type { UploadJob, Waits } from './upload-job.ts'

/** What is needed to find out how long a file has been left alone. */
export type AgeContext = Pick<EngineContext, 'clock' | 'ages'> & { disk: Pick<Disk, 'isRemote'> }

type SettleContext = AgeContext &
  Pick<EngineContext, 'openPicture' | 'settleMs'> & {
    incomplete: Pick<EngineContext['incomplete'], 'wasJustMissing' | 'isRestless' | 'rest'>
  }

/** The time between two reads that show whether a file is being written: longer than the tick of any system's timestamps. */
const LOOKS_APART_MS = 50
/** The second read comes a millisecond later for every so many bytes, so that a large file that grows is read less often. */
const BYTES_PER_MS = 100_000

/** Opens a picture once nobody writes to it any more: it was left unchanged for `settleMs`, or two reads `settleMs` apart gave
 * the same bytes, because the kernel's timestamps are too coarse to be trusted alone. A new picture that ends with its end
 * marker waits only some 50 ms, because its writer has finished. A picture that an editor saves over an old one waits for the
 * full time, because the marker may be the old one's. So does one that lacked its end a moment ago, because its first writer is
 * still at work. Three kinds do not wait here, because others would wait for them: a picture whose bytes are on the host, one
 * whose end is missing, and one that changed while this function waited before, such as a webcam's. IncompletePictures remembers
 * the latter two. `isUsed`: whether these are bytes of the image
 * that the file uses. Null: it uses none. */
export async function openSettled(
  context: SettleContext,
  job: Pick<UploadJob, 'file' | 'root' | 'path'>,
  isUsed: ((hash: Buffer) => boolean) | null,
  signal: AbortSignal,
): Promise<OpenPicture | Waits> {
  const { openPicture, settleMs, clock, incomplete } = context
  const { file, root, path } = job
  const quietMs = (size: number) => Math.min(settleMs, LOOKS_APART_MS + size / BYTES_PER_MS)
  const quietFor = leftAloneMs(context, job, file.ctime)
  const toBe = isUsed ? 0 : quietMs(file.size)
  if (quietFor < toBe) await clock.sleep(toBe - quietFor, signal)
  const first = await openPicture(root, path, signal)
  const { look, verdict, hash } = first
  if (verdict.kind === 'missing' || isUsed?.(hash)) return first
  const restMs = isWrittenOver(first, file, settleMs) ? IN_PLACE * settleMs : settleMs
  const age = leftAloneMs(context, job, look.ctime)
  if (age >= restMs) return first
  const early = endsEarly(first, file) && (isNew(first, settleMs) || incomplete.wasJustMissing(file, clock))
  // The wait above is over, and the file has not changed since the scan. So it was left alone long enough.
  if (early && look.ctime === file.ctime && look.ino === file.ino) return first
  if (incomplete.isRestless(file)) return rested(first)
  first.close()
  // Reading may take longer than the wait. Node warns of a wait below zero.
  await clock.sleep(Math.max(0, (early ? quietMs(look.size) : restMs) - age), signal)
  const second = await openPicture(root, path, signal)
  return second.hash.equals(first.hash) && second.look.ctime === first.look.ctime ? second : rested(second)

  function rested(picture: OpenPicture): OpenPicture | Waits {
    const waits = incomplete.rest({ settleMs: restMs, clock }, file, picture)
    if (waits) picture.close()
    return waits ?? picture
  }
}

/** Whether the picture was just written for the first time. Either it was created less than `settleMs` before its last change, or
 * it rested for so long and was then renamed, as some programs do at the end. */
function isNew({ look: { ctime, mtime }, bornAt }: OpenPicture, settleMs: number): boolean {
  const tookMs = (mtime - bornAt) / 1000
  const restedMs = (ctime - mtime) / 1000
  return restedMs >= settleMs || (tookMs >= 0 && tookMs < settleMs)
}

/** How many times as long a picture rests that is written over in place. Its writer may pause longer than one of a new file, and
 * behind the place that it has reached lies the old picture. */
const IN_PLACE = 5

/** Whether a picture with an image was written over in place, in a format whose check sums do not tell old from new. */
function isWrittenOver(open: OpenPicture, { image }: UploadJob['file'], settleMs: number): boolean {
  return image !== null && open.picture?.format !== 'png' && !isNew(open, settleMs)
}

/** Whether the picture ends where its format says, and uses no image yet. False on a file system with timestamps in whole
 * seconds, where a file may change without a new timestamp. */
function endsEarly({ verdict, look }: OpenPicture, { image }: UploadJob['file']): boolean {
  return verdict.kind === 'closed' && verdict.early && image === null && !isCoarse(look.ctime)
}

/** On a network disk the times come from another machine, whose clock may be so many milliseconds behind. The age of a file that
 * seems younger is not known, so it counts as 0. */
const BEHIND_MS = 300_000

/** For how long a picture was left alone, certainly or likely (see `FileAges`). `ctime`: in microseconds. */
export function leftAloneMs(
  { disk, clock, ages }: AgeContext,
  { root, path }: Pick<UploadJob, 'root' | 'path'>,
  ctime: number,
  how: 'since' | 'likelySince' = 'since',
): number {
  const age = ages[how](ctime, clock)
  return age < BEHIND_MS && disk.isRemote(dirname(`${root}/${path}`)) ? 0 : age
}
