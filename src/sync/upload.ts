import { STAMP_GRAIN } from '../local/look.ts'
import { type OpenPicture, PictureFileError } from '../local/picture-file.ts'
import { exemptFromDimensions } from '../protocol/formats.ts'
import type { Picture } from '../protocol/picture/picture.ts'
import type { UploadRequest } from '../protocol/records.ts'
import type { Credential, HostFailure, ImageHost, Outcome, Sent } from '../remote/host.ts'
import type { FileRow } from '../synced/files.ts'
import type { Synced } from '../synced/synced.ts'
import type { Album, AlbumTree } from './album-tree.ts'
import type { Clock } from './clock.ts'
import type { Deletions } from './plan.ts'
import { type OpenPictureAt, openSettled } from './settled-picture.ts'
import { resultOfRefusal, type UploadResult } from './upload-result.ts'

export interface UploadJob {
  file: FileRow
  /** The mirror's folder, real path. */
  root: string
  /** Below the root. */
  path: string
  mirror: number
  albumPath: string[]
  deletions: Deletions
}

export interface UploaderParts {
  synced: Synced
  host: ImageHost
  albums: AlbumTree
  clock: Clock
  openPicture: OpenPictureAt
  settleMs: number
  graceMs: number
  /** Running time in milliseconds. */
  running: () => number
  /** Of a moment, the day whose quota it counts to (§8). */
  quotaDay: (wall: number) => string
}

/** How often a new credential is asked for before the upload node's refusals count against the file. */
const CREDENTIALS = 4

/** Brings one file to the host: hash, credential, intent, bytes, record. */
export class Uploader {
  readonly #parts: UploaderParts

  constructor(parts: UploaderParts) {
    this.#parts = parts
  }

  async upload(job: UploadJob, signal: AbortSignal): Promise<UploadResult> {
    const { openPicture, settleMs, clock } = this.#parts
    let open: OpenPicture
    try {
      open = await openSettled(openPicture, job.root, job.path, settleMs, clock, signal)
    } catch (error) {
      if (!(error instanceof PictureFileError)) throw error
      return error.code === 'UNREADABLE'
        ? { kind: 'failed', code: error.code, message: error.message, retryAt: clock.wall(), hash: null }
        : { kind: 'waits', message: error.message }
    }
    try {
      return await this.#uploadOpen(job, open, signal)
    } finally {
      await open.close()
    }
  }

  async #uploadOpen(job: UploadJob, open: OpenPicture, signal: AbortSignal): Promise<UploadResult> {
    const { synced } = this.#parts
    const { hash } = open
    const standing = job.file.image === null ? undefined : synced.images.byId(job.file.image)
    // An image whose deletion may have happened is as good as gone.
    if (standing?.hash.equals(hash) && !synced.journal.deletionOf(standing.id)) {
      await synced.commit(() => this.#recordSynced(job, open, standing.id))
      return { kind: 'unchanged', size: open.look.size }
    }
    const { folder, name } = job.file
    if (synced.journal.openOnFile(folder, name).some(intent => intent.hash?.equals(hash)))
      return { kind: 'uncertain', failure: sentBefore, hash }
    if (!open.picture) {
      const message = 'its bytes are no picture of a known format'
      return { kind: 'failed', code: 'NOT_A_PICTURE', message, retryAt: null, hash }
    }
    return this.#tryToSend(job, open, open.picture, signal)
  }

  async #tryToSend(
    job: UploadJob,
    open: OpenPicture,
    picture: Picture,
    signal: AbortSignal,
  ): Promise<UploadResult> {
    let skipDimensions = !exemptFromDimensions(picture.mime) && picture.width === null
    const refused = (failure: HostFailure) => resultOfRefusal(failure, open.hash, this.#parts.clock.wall())
    let last: HostFailure | null = null
    for (let tries = 0; tries < CREDENTIALS; tries++) {
      const credential = await this.#requestCredential(job, open, picture, skipDimensions, signal)
      if (!credential.ok) return refused(credential.failure)
      const { album, ...granted } = credential.value
      const sent = await this.#send(job, open, picture, granted, album, signal)
      if (sent.ok) return { kind: 'uploaded', cdnUrl: sent.value.cdnUrl, size: open.look.size }
      last = sent.failure
      if (last.remedy === 'skip_dimensions' && !skipDimensions) skipDimensions = true
      else if (last.remedy !== 'new_credential') return refused(last)
      else await this.#parts.clock.sleep(250 * 2 ** tries, signal)
    }
    return refused(last!)
  }

  async #requestCredential(
    job: UploadJob,
    open: OpenPicture,
    picture: Picture,
    skipDimensions: boolean,
    signal: AbortSignal,
  ): Promise<Outcome<Credential & { album: Album }>> {
    const { albums, host } = this.#parts
    const first = await albums.find(job.albumPath, signal)
    if (!first.ok) return first
    const ask = (album: Album) =>
      host.requestUpload(requestFor(job, open, picture, skipDimensions, album), signal)
    let album = first.value
    let granted = await ask(album)
    if (!granted.ok && granted.failure.remedy === 'gone' && album) {
      const again = await albums.lookAgain(job.albumPath, signal, album)
      if (!again.ok) return again
      album = again.value
      granted = await ask(album)
    }
    return granted.ok ? { ok: true, value: { ...granted.value, album } } : granted
  }

  async #send(
    job: UploadJob,
    open: OpenPicture,
    picture: Picture,
    credential: Credential,
    album: Album,
    signal: AbortSignal,
  ): Promise<Outcome<Sent>> {
    const { synced, host, clock, quotaDay } = this.#parts
    const now = clock.wall()
    const { width, height, mime } = picture
    const { folder, name } = job.file
    const { size, mtime } = open.look
    const cdn_url = credential.cdnUrl
    const intent = await synced.commit(() => {
      synced.account.useQuota(quotaDay(now))
      return synced.journal.openUpload(
        {
          folder,
          name,
          size,
          mtime,
          hash: open.hash,
          mime,
          width,
          height,
          cdn_url,
          album: album?.id ?? null,
        },
        now,
      )
    })
    const body = { fileName: name, mime, size, chunks: open.chunks, ...(open.bytes && { bytes: open.bytes }) }
    const sent = this.#believed(await host.send(credential, body, signal), open)
    await synced.commit(() => {
      if (sent.ok) this.#recordUploaded(job, open, picture, sent.value, album)
      // An outcome that is not known stays in the journal for recovery.
      if (sent.ok || sent.failure.remedy !== 'find_out') synced.journal.close(intent)
    })
    return sent
  }

  /** An id that stands for other bytes of ours can't stand for these. */
  #believed(sent: Outcome<Sent>, { hash }: OpenPicture): Outcome<Sent> {
    const known = sent.ok ? this.#parts.synced.images.byRemoteId(sent.value.imageId) : undefined
    return known && !known.hash.equals(hash) ? { ok: false, failure: idOfAnother } : sent
  }

  #recordUploaded(job: UploadJob, open: OpenPicture, picture: Picture, sent: Sent, album: Album): void {
    const { synced, clock, graceMs, running } = this.#parts
    const { mime, width, height } = picture
    const image = synced.images.put({
      remote_id: sent.imageId,
      cdn_url: sent.cdnUrl,
      album: album?.id ?? null,
      name: job.file.name,
      hash: open.hash,
      size: open.look.size,
      mime,
      width,
      height,
      recorded_at: clock.wall(),
    })
    this.#recordSynced(job, open, image.id)
    const before = job.file.image
    if (before !== null && before !== image.id && job.deletions === 'propagate')
      synced.escrow.put({
        image: before,
        mirror: job.mirror,
        path: job.path,
        reason: 'superseded',
        state: 'grace',
        since: clock.wall(),
        due_at: running() + graceMs,
      })
  }

  #recordSynced(job: UploadJob, open: OpenPicture, image: number): void {
    const { files, failures, escrow } = this.#parts.synced
    const { folder, name } = job.file
    // A file that was stamped just before it was read may change once more under the same stamp: a time that no file
    // has makes the next look at it ask for its hash again.
    const ctime = open.readAt >= open.look.ctime + STAMP_GRAIN ? open.look.ctime : 0
    files.put({ folder, name, ...open.look, ctime, state: 'synced', since: null, image, hash: open.hash })
    failures.clear(folder, name)
    escrow.takeBack(image)
  }
}

const sentBefore: HostFailure = {
  remedy: 'find_out',
  endpoint: 'send',
  code: 'UNCERTAIN',
  message: 'these bytes were sent before, and what became of them is not known',
  repeated: true,
}

const idOfAnother: HostFailure = {
  remedy: 'find_out',
  endpoint: 'send',
  code: 'HOST_ANSWER',
  message: 'the host answered with the id of another picture',
}

function requestFor(
  job: UploadJob,
  open: OpenPicture,
  { mime, width, height }: Picture,
  skipDimensions: boolean,
  album: Album,
): UploadRequest {
  const undeclared = skipDimensions || exemptFromDimensions(mime) || width === null || height === null
  return {
    file_name: job.file.name,
    file_size: open.look.size,
    mime_type: mime,
    ...(undeclared ? {} : { width, height }),
    ...(skipDimensions && { skip_dimension_check: true }),
    ...(album && { album_id: album.remote_id }),
  }
}
