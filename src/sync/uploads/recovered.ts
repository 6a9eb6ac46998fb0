import type { Synced } from '../../synced/synced.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import type { ImageRow } from '../../synced/tables/images.ts'
import type { OpenUpload } from '../../synced/tables/journal.ts'
import type { Clock } from '../clock.ts'
import type { PassEvent } from '../pass-events.ts'
import { pathOf } from '../tree-path.ts'

export interface RecordParts {
  synced: Synced
  clock: Clock
  /** Running time in milliseconds. */
  running: () => number
  graceMs: number
  /** The rows of the mirrors whose images may be deleted. */
  propagating: ReadonlySet<number>
}

/** Where an upload that was in doubt has been found. */
export interface Found {
  remoteId: string
  cdnUrl: string | null
  album: number | null
  proof: ImageRow['proof']
}

/** Records that an upload arrived. A version that its file no longer has is to be given up. Belongs into a commit. */
export function recordFound(parts: RecordParts, intent: OpenUpload, found: Found): void {
  const { synced, clock } = parts
  const { folder, name, hash, size, mime, width, height } = intent
  const image = synced.images.put({
    remote_id: found.remoteId,
    cdn_url: found.cdnUrl,
    album: found.album,
    name,
    hash,
    size,
    mime,
    width,
    height,
    recorded_at: clock.wall(),
    proof: found.proof,
  })
  synced.journal.close(intent.id)
  synced.history.ofFile(intent, { at: clock.wall(), event: 'arrived', detail: HOW[found.proof] })
  const file = synced.files.at({ folder, name })
  if (file && isVersion(file, intent)) stand(parts, file, image)
  // An older version stays until the newer one is there.
  else if (file && file.image === null && file.state !== 'gone')
    synced.files.put({ ...file, image: image.id })
  else if (synced.files.onImage(image.id).length === 0) giveUp(parts, intent, image, file)
  synced.folders.removeIfEmpty(folder)
}

/** Records that an upload never arrived: its file is sent again, where it is still that version. Belongs into a commit. */
export function recordAbsent(
  { files, failures, history, journal, folders }: Synced,
  intent: OpenUpload,
  now: number,
): void {
  const { folder, name } = intent
  journal.close(intent.id)
  history.ofFile(intent, { at: now, event: 'never_arrived' })
  const file = files.at(intent)
  if (file?.state === 'uncertain' && isVersion(file, intent)) {
    files.put({ ...file, state: 'pending', since: file.since ?? now, hash: null })
    failures.clear(folder, name)
  }
  folders.removeIfEmpty(folder)
}

/** What is told of it. To be made before it is recorded: a folder that nothing needs any more goes with that. */
export function foundOut({ folders, mirrors }: Synced, intent: OpenUpload, arrived: boolean): PassEvent {
  const { mirror, path } = folders.byId(intent.folder)!
  const { name } = intent
  return {
    event: 'upload_found_out',
    mirror: mirrors.byId(mirror)!.folder,
    path: pathOf(path, name),
    name,
    arrived,
  }
}

const HOW: Record<ImageRow['proof'], string> = {
  uploaded: 'the host has it under the address or the id that it had promised',
  compared: 'its bytes were fetched and are the same',
  none: 'an image of its name and dimensions came; its bytes are not compared yet',
}

/** One that is hidden keeps what stands for it. */
const MAY_STAND: ReadonlySet<FileRow['state']> = new Set(['uncertain', 'pending', 'hidden'])

function isVersion(file: FileRow, { size, mtime, hash }: OpenUpload): boolean {
  if (!MAY_STAND.has(file.state)) return false
  // A touched file has another time and the same bytes.
  return file.hash === null ? file.size === size && file.mtime === mtime : file.hash.equals(hash)
}

/** The image stands for its file, whose bytes the next look asks for again: no file has that time. */
function stand(
  { synced, clock, running, graceMs, propagating }: RecordParts,
  file: FileRow,
  image: ImageRow,
): void {
  const { files, failures, escrow, resend, folders } = synced
  const before = file.image
  const found = image.proof === 'none' ? 'linked' : 'synced'
  const state = file.state === 'hidden' ? 'hidden' : found
  const since = state === 'hidden' ? file.since : null
  files.put({ ...file, ctime: 0, state, since, image: image.id, hash: image.hash })
  folders.lookAgain(file.folder)
  failures.clear(file.folder, file.name)
  escrow.takeBack(image.id)
  resend.remove(file)
  if (before === null || before === image.id) return
  const folder = folders.byId(file.folder)!
  if (propagating.has(folder.mirror))
    escrow.put({
      image: before,
      mirror: folder.mirror,
      path: pathOf(folder.path, file.name),
      reason: 'superseded',
      state: 'grace',
      since: clock.wall(),
      due_at: running() + graceMs,
    })
  else synced.images.keep(before)
}

/** Nothing stands on it: its file is gone or has another version. */
function giveUp(
  { synced, clock, running, graceMs, propagating }: RecordParts,
  { folder, name }: OpenUpload,
  image: ImageRow,
  file: FileRow | undefined,
): void {
  const row = synced.folders.byId(folder)
  if (!row || !propagating.has(row.mirror)) return
  synced.escrow.put({
    image: image.id,
    mirror: row.mirror,
    path: pathOf(row.path, name),
    reason: file && file.state !== 'gone' ? 'superseded' : 'deleted',
    state: 'grace',
    since: clock.wall(),
    due_at: running() + graceMs,
  })
}
