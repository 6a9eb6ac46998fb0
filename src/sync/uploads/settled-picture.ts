import { dirname } from 'node:path/posix'
import type { Disk } from '../../local/disk.ts'
import { type OpenPicture, PictureFileError } from '../../local/picture-file.ts'
import type { EngineContext } from '../context.ts'
import type { UploadJob } from './upload-job.ts'

/** What tells how long a file has been left alone. */
export type AgeContext = Pick<EngineContext, 'clock' | 'ages'> & { disk: Pick<Disk, 'isRemote'> }

type SettleContext = AgeContext &
  Pick<EngineContext, 'openPicture' | 'settleMs'> & {
    incomplete: Pick<EngineContext['incomplete'], 'wasJustCut'>
  }

/** Two looks so far apart show whether a file is being written: longer than any system's tick, which stamps it. */
const LOOKS_APART_MS = 50
/** Bytes for each further millisecond, so that a large file that grows by bits is not read from its start all the time. */
const BYTES_PER_MS = 100_000

/**
 * Opens a picture once nobody writes to it any more: unchanged for `settleMs`. A younger one is read a second time
 * after that time and must then have the same bytes; the kernel's timestamps are too coarse to trust alone. A new
 * picture that ends where its format ends rests for a moment only: films are appended to pictures, and editors write
 * over what was there, but nobody goes on behind an end marker of his own. So it is with one that was seen before its end
 * was there. What is cut is not waited for here, nor are the bytes that stand on the host already. `standing`: their hash,
 * or null.
 */
export async function openSettled(
  context: SettleContext,
  job: Pick<UploadJob, 'file' | 'root' | 'path'>,
  standing: Buffer | null,
  signal: AbortSignal,
): Promise<OpenPicture> {
  const { openPicture, settleMs, clock, incomplete } = context
  const { file, root, path } = job
  const quietMs = (size: number) => Math.min(settleMs, LOOKS_APART_MS + size / BYTES_PER_MS)
  const quietFor = leftAloneMs(context, job, file.ctime)
  const toBe = standing ? 0 : quietMs(file.size)
  if (quietFor < toBe) await clock.sleep(toBe - quietFor, signal)
  const first = await openPicture(root, path, signal)
  const { look, ending, hash } = first
  const age = leftAloneMs(context, job, look.ctime)
  if (age >= settleMs) return first
  if (ending.kind === 'cut' || standing?.equals(hash)) return first
  const early = endsEarly(first, file) && (isNew(first, settleMs) || incomplete.wasJustCut(file, clock))
  // It is as the scan saw it, some time ago.
  if (early && look.ctime === file.ctime && look.ino === file.ino) return first
  await first.close()
  // It may have been read for longer than it has to rest. Node warns of a wait below zero.
  await clock.sleep(Math.max(0, (early ? quietMs(look.size) : settleMs) - age), signal)
  const second = await openPicture(root, path, signal)
  if (second.hash.equals(first.hash) && second.look.ctime === first.look.ctime) return second
  await second.close()
  throw new PictureFileError('CHANGING', 'it is still being written')
}

/**
 * Made a moment before it was last written to, or renamed when it had rested: whole, then. An older file may have been
 * whole before, and somebody writes over it, whatever its name becomes meanwhile.
 */
function isNew({ look: { ctime, mtime }, bornAt }: OpenPicture, settleMs: number): boolean {
  const tookMs = (mtime - bornAt) / 1000
  const restedMs = (ctime - mtime) / 1000
  return restedMs >= settleMs || (tookMs >= 0 && tookMs < settleMs)
}

/** Whole seconds are the stamps of file systems that know no parts of them: a file may change under the same one. */
function endsEarly({ ending, look }: OpenPicture, { image }: UploadJob['file']): boolean {
  return ending.kind === 'closed' && image === null && look.ctime % 1_000_000 !== 0
}

/** So far another machine's clock may be behind: until then its stamp does not tell how long a file has been left alone. */
const BEHIND_MS = 300_000

/** For how many milliseconds at least nobody has written to a picture that was stamped at `ctime` (microseconds since 1970). */
export function leftAloneMs(
  { disk, clock, ages }: AgeContext,
  { root, path }: Pick<UploadJob, 'root' | 'path'>,
  ctime: number,
): number {
  const age = ages.since(ctime, clock)
  return age < BEHIND_MS && disk.isRemote(dirname(`${root}/${path}`)) ? 0 : age
}
