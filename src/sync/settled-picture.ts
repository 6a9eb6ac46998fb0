import { dirname } from 'node:path/posix'
import type { Disk } from '../local/disk.ts'
import { type OpenPicture, PictureFileError } from '../local/picture-file.ts'
import type { Clock } from './clock.ts'
import type { FileAges } from './file-ages.ts'
import type { UploadJob } from './upload-job.ts'

/**
 * Opens and hashes the picture at `path` below `root`; throws PictureFileError where it can't be had now, or where
 * `cut` is aborted before it was read.
 */
export type OpenPictureAt = (root: string, path: string, cut: AbortSignal) => Promise<OpenPicture>

export interface SettleParts {
  disk: Pick<Disk, 'isRemote'>
  openPicture: OpenPictureAt
  settleMs: number
  clock: Clock
  ages: FileAges
}

/** Two looks so far apart show whether a file is being written: longer than any system's tick, which stamps it. */
const LOOKS_APART_MS = 50
/** Bytes for each further millisecond, so that a large file that grows by bits is not read from its start all the time. */
const BYTES_PER_MS = 100_000
/** So far another machine's clock may be behind: until then its stamp does not tell how long a file has been left alone. */
const BEHIND_MS = 300_000

/**
 * Opens a picture once nobody writes to it any more: unchanged for `settleMs`. A younger one is read a second time
 * after that time and must then have the same bytes; the kernel's timestamps are too coarse to trust alone. A new
 * picture that ends where its format ends rests for a moment only: films are appended to pictures, and editors write
 * over what was there, but nobody goes on behind an end marker of his own. What is cut is not waited for here, nor are the
 * bytes that stand on the host already. `standing`: their hash, or null.
 */
export async function openSettled(
  { disk, openPicture, settleMs, clock, ages }: SettleParts,
  { file, root, path }: Pick<UploadJob, 'file' | 'root' | 'path'>,
  standing: Buffer | null,
  signal: AbortSignal,
): Promise<OpenPicture> {
  const quietMs = (size: number) => Math.min(settleMs, LOOKS_APART_MS + size / BYTES_PER_MS)
  const ageOf = (ctime: number) => {
    const age = ages.since(ctime, clock)
    return age < BEHIND_MS && disk.isRemote(dirname(`${root}/${path}`)) ? 0 : age
  }
  const quietFor = ageOf(file.ctime)
  const toBe = standing ? 0 : quietMs(file.size)
  if (quietFor < toBe) await clock.sleep(toBe - quietFor, signal)
  const first = await openPicture(root, path, signal)
  const { look, ending, hash } = first
  const age = ageOf(look.ctime)
  if (age >= settleMs) return first
  if (ending.kind === 'cut' || standing?.equals(hash)) return first
  const early = endsEarly(first, file)
  // It is as the scan saw it, some time ago.
  if (early && look.ctime === file.ctime && look.ino === file.ino) return first
  await first.close()
  await clock.sleep((early ? quietMs(look.size) : settleMs) - age, signal)
  const second = await openPicture(root, path, signal)
  if (second.hash.equals(first.hash) && second.look.ctime === first.look.ctime) return second
  await second.close()
  throw new PictureFileError('CHANGING', 'it is still being written')
}

/** Whole seconds are the stamps of file systems that know no parts of them: a file may change under the same one. */
function endsEarly({ ending, look }: OpenPicture, { image }: UploadJob['file']): boolean {
  return ending.kind === 'closed' && image === null && look.ctime % 1_000_000 !== 0
}
