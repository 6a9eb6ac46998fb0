import { type FileLook, STAMP_GRAIN } from '../../local/look.ts'
import type { OpenPicture } from '../../local/picture-file.ts'
import type { Picture } from '../../protocol/picture/picture.ts'
import type { Synced } from '../../synced/synced.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import type { Clock } from '../clock.ts'
import { recordRunning } from '../record-states.ts'
import { noteStanding } from '../records/picture-history.ts'
import type { UploadJob } from './upload-job.ts'

export interface RecordsParts {
  synced: Synced
  clock: Clock
  graceMs: number
  /** Running time in milliseconds. */
  running: () => number
}

/** An image on the host that is a file's: where it is, and how that is known. */
export type Place = Pick<ImageRow, 'remote_id' | 'cdn_url' | 'album' | 'proof'>

/** The image of a picture that was read, recorded. Its file stands on it. Belongs into a commit. */
export function recordImage(
  parts: RecordsParts,
  job: UploadJob,
  open: OpenPicture,
  { mime, width, height }: Picture,
  place: Place,
): void {
  const image = parts.synced.images.put({
    ...place,
    name: job.file.name,
    hash: open.hash,
    size: open.look.size,
    mime,
    width,
    height,
    recorded_at: parts.clock.wall(),
  })
  // The id may be known for another picture.
  if (image.hash.equals(open.hash)) recordStanding(parts, job, open, image, true)
}

/**
 * The file stands on this image; one that stood for an earlier version is to be given up. `isNew`: to the records.
 * Belongs into a commit.
 */
export function recordStanding(
  parts: RecordsParts,
  job: UploadJob,
  open: OpenPicture,
  image: ImageRow,
  isNew = false,
): void {
  const { synced, clock, graceMs, running } = parts
  const { files, folders, images, failures, escrow, resend } = synced
  const { folder, name, image: before } = job.file
  noteStanding(synced, job, image, isNew, clock.wall())
  // Another look than the scan's, perhaps of a folder in its place: the one that the scan saw may come back as it was.
  if (!isSameLook(job.file, open.look)) folders.lookAgain(folder)
  // A time that no file has makes the next look at it ask for its hash again.
  const ctime = isFresh(open) ? 0 : open.look.ctime
  const state = image.proof === 'none' ? 'linked' : 'synced'
  files.put({ folder, name, ...open.look, ctime, state, since: null, image: image.id, hash: open.hash })
  failures.clear(folder, name)
  escrow.takeBack(image.id)
  resend.remove(job.file)
  if (before === null || before === image.id) return
  if (job.deletions === 'keep') {
    images.keep(before)
    return
  }
  escrow.put({
    image: before,
    mirror: job.mirror,
    path: job.path,
    reason: 'superseded',
    state: 'grace',
    since: clock.wall(),
    due_at: running() + graceMs,
  })
  recordRunning(parts)
}

/** The file has other bytes than its image: they are not read again before they are sent. Belongs into a commit. */
export function recordBytes(
  { synced }: Pick<RecordsParts, 'synced'>,
  { file }: UploadJob,
  open: OpenPicture,
): void {
  if (isSameLook(file, open.look) && !isFresh(open)) synced.files.put({ ...file, hash: open.hash })
}

/** A file that was stamped just before it was read may change once more under the same stamp. */
function isFresh({ readAt, look }: OpenPicture): boolean {
  return readAt < look.ctime + STAMP_GRAIN
}

function isSameLook(a: Omit<FileLook, 'name'>, b: Omit<FileLook, 'name'>): boolean {
  return a.size === b.size && a.mtime === b.mtime && a.ctime === b.ctime && a.ino === b.ino
}
