import { type OpenPicture, PictureFileError } from '../local/picture-file.ts'
import type { Clock } from './clock.ts'
import type { FileAges } from './file-ages.ts'

/** Opens and hashes the picture at `path` below `root`; throws PictureFileError where it can't be had now. */
export type OpenPictureAt = (root: string, path: string) => Promise<OpenPicture>

/**
 * Opens a picture once nobody writes to it any more: unchanged for `settleMs`. A younger one is read a second time
 * after that time and must then have the same bytes; the kernel's timestamps are too coarse to trust alone.
 */
export async function openSettled(
  open: OpenPictureAt,
  root: string,
  path: string,
  settleMs: number,
  { clock, ages }: { clock: Clock; ages: FileAges },
  signal: AbortSignal,
): Promise<OpenPicture> {
  const first = await open(root, path)
  const age = ages.since(first.look.ctime, clock)
  if (age >= settleMs) return first
  await first.close()
  await clock.sleep(settleMs - age, signal)
  const second = await open(root, path)
  if (second.hash.equals(first.hash) && second.look.ctime === first.look.ctime) return second
  await second.close()
  throw new PictureFileError('CHANGING', 'it is still being written')
}
