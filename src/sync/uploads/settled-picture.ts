import { type OpenPicture, PictureFileError } from '../../local/picture-file.ts'
import type { IncompletePictures } from './incomplete-pictures.ts'
import { type LeftAloneParts, leftAloneMs } from './left-alone.ts'
import type { UploadJob } from './upload-job.ts'

/**
 * Opens and hashes the picture at `path` below `root`; throws PictureFileError where it can't be had now, or where
 * `cut` is aborted before it was read.
 */
export type OpenPictureAt = (root: string, path: string, cut: AbortSignal) => Promise<OpenPicture>

export interface SettleParts extends LeftAloneParts {
  openPicture: OpenPictureAt
  settleMs: number
  incomplete: Pick<IncompletePictures, 'wasJustCut'>
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
  parts: SettleParts,
  job: Pick<UploadJob, 'file' | 'root' | 'path'>,
  standing: Buffer | null,
  signal: AbortSignal,
): Promise<OpenPicture> {
  const { openPicture, settleMs, clock, incomplete } = parts
  const { file, root, path } = job
  const quietMs = (size: number) => Math.min(settleMs, LOOKS_APART_MS + size / BYTES_PER_MS)
  const quietFor = leftAloneMs(parts, job, file.ctime)
  const toBe = standing ? 0 : quietMs(file.size)
  if (quietFor < toBe) await clock.sleep(toBe - quietFor, signal)
  const first = await openPicture(root, path, signal)
  const { look, ending, hash } = first
  const age = leftAloneMs(parts, job, look.ctime)
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
