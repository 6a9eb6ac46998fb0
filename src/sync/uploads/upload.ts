import { PictureFileError } from '../../local/open-file.ts'
import { type OpenPicture, whyNoPicture } from '../../local/picture-file.ts'
import { asItLies, type SentPicture } from '../../local/sent-picture.ts'
import { HOUR_MS } from '../../protocol/clock.ts'
import { imageNameOf } from '../../protocol/formats.ts'
import { described } from '../../records/images.ts'
import { hashed, unchanged } from '../../records/pictures.ts'
import { isAtPath } from '../../records/versions.ts'
import { cancelled, noAlbumInPresign } from '../../remote/failures.ts'
import type { HostFailure, Outcome } from '../../remote/host.ts'
import type { Synced } from '../../synced/synced.ts'
import type { FileRow } from '../../synced/tables/files.ts'
import { type ImageRow, TO_SEND_ANEW } from '../../synced/tables/images.ts'
import type { OpenUpload } from '../../synced/tables/journal.ts'
import { because, codeOf, type Reason } from '../../words/reasons.ts'
import { type Album, flatness, isLeaving, recordedAlbums } from '../album.ts'
import { ALBUM_IN_DOUBT, DefaultAlbum } from '../albums/index.ts'
import { lossEndsAt, momentOf } from '../clock.ts'
import { dataToRecord, deliveryOf, knownOf, learnFrom } from '../delivered/index.ts'
import { adopt, adoptUsed } from './adoption.ts'
import { send } from './sender.ts'
import { openSettled } from './settled-picture.ts'
import {
  isOfAlbum,
  type JobPicture,
  type Parcel,
  resultOfRefusal,
  type UploadJob,
  type UploadResult,
  type UploadRun,
  type Waits,
} from './upload-job.ts'

/** How soon a pass begins because of a file that can't be read. Every pass tries such files. */
const UNREADABLE_PASS_MS = 60_000
/** How many credentials that were perhaps too old a picture uses up before it waits. */
const CREDENTIALS = 3
/** How many failed tries double UNREADABLE_PASS_MS. */
const DOUBLINGS = 6

/** Brings one file to the host, unless its bytes are there already. */
export class Uploader {
  readonly #run: UploadRun
  readonly #default = new DefaultAlbum()
  /** The types of which a first delivery was looked at. */
  readonly #looked = new Set<string>()
  /** Why the host refuses the albums of these folders. One picture of a folder asks, and the others are not read again. */
  readonly #refusedAlbums = new Map<number, HostFailure>()

  constructor(run: UploadRun) {
    this.#run = run
  }

  async upload(job: UploadJob, signal: AbortSignal): Promise<UploadResult> {
    const { clock, incomplete } = this.#run
    const waits = incomplete.recall(job.file, clock)
    if (waits) return waits
    const { synced, only, breaker } = this.#run
    const why = namesakeOf(synced, job.file) ?? (only ? null : breaker.whyUnread(job.file))
    if (why) return { kind: 'waits', message: why }
    const { hash, folder } = job.file
    const refused = this.#refusedAlbums.get(folder)
    if (refused && hash) return this.#refused(refused, hash, job)
    return this.#withOpen(job, signal, open => this.#uploadOpen(job, open, signal))
  }

  async #withOpen(
    job: UploadJob,
    signal: AbortSignal,
    work: (open: OpenPicture) => Promise<UploadResult>,
  ): Promise<UploadResult> {
    let open: OpenPicture | Waits | null = null
    try {
      const used = this.#imageOf(job)
      open = await openSettled(this.#run, job, used ? hash => this.#isThere(used, hash) : null, signal)
      return 'kind' in open ? open : await work(open)
    } catch (error) {
      if (!(error instanceof PictureFileError)) throw error
      if (error.code !== 'UNREADABLE') return { kind: 'waits', message: error.why }
      const { synced, clock } = this.#run
      const attempts = synced.failures.ofUpload(job.file)?.attempts ?? 0
      const retryAt = clock.wall() + UNREADABLE_PASS_MS * 2 ** Math.min(attempts, DOUBLINGS)
      const message = this.#imageOf(job) ? because('unread_image_stays', { why: error.why }) : error.why
      return { kind: 'failed', code: error.code, message, retryAt, hash: null }
    } finally {
      if (open && 'close' in open) open.close()
    }
  }

  #imageOf({ file }: UploadJob): ImageRow | undefined {
    return file.image === null ? undefined : this.#run.synced.images.byId(file.image)
  }

  async #uploadOpen(job: UploadJob, open: OpenPicture, signal: AbortSignal): Promise<UploadResult> {
    const { maker, only } = this.#run
    // Another disk may have been mounted at the folder since the scan.
    if (!job.isAsScanned()) return { kind: 'waits', message: because('folder_replaced') }
    const whole = asItLies(open)
    const used = this.#imageOf(job)
    const isSure = used && !this.#isDoubted(used, job)
    const isAsked = maker !== null && used?.how === TO_SEND_ANEW
    if (isSure && !isAsked && this.#isThere(used, open.hash)) return this.#leave(job, open, whole, used)
    const made = maker ? await maker(open, job, signal) : whole
    const isMade = typeof made === 'object'
    const sent = isMade ? made : whole
    const isAnew = isAsked && sent.how !== null
    const mayBeIt = isSure && isMade && (!isAnew || used.hash.equals(sent.hash))
    if (mayBeIt && this.#isThere(used, sent.hash)) return this.#leave(job, open, sent, used)
    if (only === 'compare') return this.#compare(job, open, sent)
    if (!isMade && signal.aborted) return { kind: 'stop', failure: cancelled('upload', 'nothing') }
    const hindered = this.#whyNotSent(job, open, made)
    if (hindered) return hindered
    return this.#bringIn({ job, open, sent, picture: sent.picture! }, isAnew ? undefined : used, signal)
  }

  /** Why a picture is not sent now, whatever the host holds. Null: nothing is in the way. */
  #whyNotSent(job: UploadJob, open: OpenPicture, made: SentPicture | Reason): UploadResult | null {
    const { hash, foreign } = open
    const { incomplete, synced, uploadForm } = this.#run
    const inDoubt = synced.journal.openOnFile(job.file)
    if (inDoubt.some(intent => intent.file_hash.equals(hash)))
      return { kind: 'uncertain', failure: sentBefore, hash }
    if (typeof made === 'object' && inDoubt.some(intent => intent.hash.equals(made.hash)))
      return { kind: 'waits', message: because('version_open') }
    // Bytes of a foreign format are nobody's half picture, so the file does not wait for its end.
    const isMade = typeof made === 'object'
    const isTaken = !isMade || made.picture !== null
    const waits = foreign === null || isTaken ? incomplete.judge(this.#run, job, open) : null
    if (waits) return waits
    const failed = { kind: 'failed', retryAt: null, hash } as const
    if (!isTaken) return { ...failed, code: 'NOT_A_PICTURE', message: whyNoPicture(open) }
    if (!isMade) {
      const code = codeOf(made) === 'metadata_stay' ? 'METADATA_STAY' : 'NOT_CONVERTED'
      const retryAt = codeOf(made) === 'not_converted_now' ? this.#run.clock.wall() + HOUR_MS : null
      return { ...failed, code, message: made, retryAt }
    }
    const isFlatOnly = uploadForm === 'presign' && job.albumPath.length > 0
    return isFlatOnly ? this.#refused(noAlbumInPresign(), hash, job) : null
  }

  /** Brings a picture to its album. `used`: the image that it uses, which may have its bytes. */
  async #bringIn(read: JobPicture, used: ImageRow | undefined, signal: AbortSignal): Promise<UploadResult> {
    const { job, open, sent, picture } = read
    const { hash } = open
    const mayBeIt = used && (used.proof === 'none' || this.#isThere(used, hash, sent.hash))
    const adopted = mayBeIt && (await adoptUsed(this.#run, read, used, signal))
    if (adopted) return adopted
    const album = await this.#albumOf(job, signal)
    if (!album.ok && isOfAlbum(album.failure)) this.#refusedAlbums.set(job.file.folder, album.failure)
    if (!album.ok) return this.#blindly(album.failure, hash) ?? this.#refused(album.failure, hash, job)
    if (album.value === undefined) return this.#notThere()
    const result = await this.#bringInTime({ ...read, album: album.value }, signal)
    if (result.kind === 'uploaded') await this.#learnFrom(result, read, signal)
    return ofType(result, picture.mime)
  }

  /** Records that the file is the picture of its image. Recovery has recorded the image without the file at hand. */
  async #leave(job: UploadJob, open: OpenPicture, sent: SentPicture, used: ImageRow): Promise<UploadResult> {
    const { picture, look } = open
    const isIt = used.hash.equals(sent.hash)
    const lacks = isIt && used.data === null
    const data = lacks && picture ? await dataToRecord(this.#run, { open, sent, picture }) : null
    await this.#run.synced.commit(tx => {
      described(tx, used, { data, how: isIt ? sent.how : null })
      unchanged(tx, job, open, used, job.file.flat, momentOf(this.#run))
    })
    return { kind: 'unchanged', size: look.size }
  }

  /** Learns from the first picture of a type. Only one is looked at, so that a delivery that hangs holds up only one. */
  async #learnFrom(
    { cdnUrl }: Extract<UploadResult, { kind: 'uploaded' }>,
    read: JobPicture,
    signal: AbortSignal,
  ): Promise<void> {
    const { mime } = read.picture
    const isKnown = this.#looked.has(mime) || deliveryOf(this.#run.synced, mime) !== undefined
    if (cdnUrl === null || isKnown) return
    this.#looked.add(mime)
    await learnFrom(this.#run, knownOf(read), cdnUrl, signal)
  }

  /** Like `#bring`. When the node may have refused a credential because of its age, fewer uploads go together from now on, and this
   * one asks for another credential at once, if the album shows that the picture has not arrived by the old one. */
  async #bringInTime(parcel: Parcel, signal: AbortSignal): Promise<UploadResult> {
    for (let tries = 1; ; tries++) {
      const result = await this.#bring(parcel, signal)
      const isTooOld = result.kind === 'failed' && result.refusal?.aged === true
      if (!isTooOld || tries === CREDENTIALS) return result
      parcel.job.lane.giveWay()
      if (!(await this.#run.contents.lookAt(this.#run, parcel.album, signal)).ok) return result
    }
  }

  /** Whether the image is on the host and has such bytes, was made of them, or was restored in them. False while an intent to
   * delete it is open. */
  #isThere(image: ImageRow, ...hashes: Buffer[]): boolean {
    const { images, journal } = this.#run.synced
    return hashes.some(hash => images.isOf(image, hash)) && !journal.deletionOf(image.id)
  }

  /** Whether an upload in doubt may have put another version into the image: a host may keep the id of a picture's image. */
  #isDoubted({ remote_id, hash }: ImageRow, { file }: UploadJob): boolean {
    const { journal, meta, refuted } = this.#run.synced
    const isOther = (intent: OpenUpload) => !intent.hash.equals(hash)
    const isDoubt = journal.openOnFile(file).some(isOther) || refuted.has(remote_id, hash)
    return isDoubt && meta.get('versions_apart') === null
  }

  /** Lets the file use an image that no file uses, where the records alone prove which album is the picture's. */
  async #compare(job: UploadJob, open: OpenPicture, sent: SentPicture): Promise<UploadResult> {
    const { synced } = this.#run
    const isIt = (intent: OpenUpload) => intent.file_hash.equals(open.hash) || intent.hash.equals(sent.hash)
    const albums = recordedAlbums(synced, job.albumPath)
    const album = albums.at(-1) ?? this.#default.known(this.#run) ?? null
    const isSure = albums.every(row => row?.confirmed === 1) && !(album && isLeaving(synced, album))
    const mayUse = isSure && !synced.journal.openOnFile(job.file).some(isIt)
    const unused = mayUse && (await this.#useUnused({ job, open, sent, album }))
    if (unused) return unused
    await synced.commit(tx => hashed(tx, job.file, open))
    return { kind: 'compared' }
  }

  /** Lets the file use an image in `album` that no file uses. Null: there is none for it. */
  async #useUnused(parcel: Omit<Parcel, 'picture'>): Promise<UploadResult | null> {
    const unused = unusedImageOf(this.#run, parcel)
    if (!unused) return null
    const { job, open, album } = parcel
    const flat = flatness(this.#run.synced, job.albumPath, album)
    await this.#run.synced.commit(tx => unchanged(tx, job, open, unused, flat, momentOf(this.#run)))
    return { kind: 'unchanged', size: open.look.size, cdn_url: unused.cdn_url }
  }

  /** The picture's album, after a look at the images in it. Undefined: there is none, and this run creates none. */
  async #albumOf(job: UploadJob, signal: AbortSignal): Promise<Outcome<Album | undefined>> {
    const { albums, contents, synced } = this.#run
    for (let tries = 1; ; tries++) {
      const found = await this.#find(job, signal)
      if (!found.ok || found.value === undefined) return found
      const album = found.value ?? this.#default.known(this.#run) ?? null
      if (album && isLeaving(this.#run.synced, album)) return { ok: false, failure: leaving }
      const looked = await contents.lookAt(this.#run, album, signal)
      if (looked.ok || synced.resend.has(job.file)) return { ok: true, value: album }
      if (looked.failure.remedy !== 'gone' || album === null || tries > 1) return looked
      await albums.doubt(album)
    }
  }

  async #find({ albumPath, file }: UploadJob, signal: AbortSignal): Promise<Outcome<Album | undefined>> {
    const { albums, only, synced } = this.#run
    if (only) return albums.lookUp(albumPath, signal)
    const found = await albums.find(albumPath, signal)
    if (found.ok || !isUnlisted(found.failure) || !synced.resend.has(file)) return found
    // Nobody knows which albums the host has, so a picture that is sent again lies flat, and no album is created twice.
    return { ok: true, value: recordedAlbums(synced, albumPath).findLast(row => row) ?? null }
  }

  async #bring(parcel: Parcel, signal: AbortSignal): Promise<UploadResult> {
    const { job, album } = parcel
    const found = (await this.#useUnused(parcel)) ?? (await adopt(this.#run, parcel, signal))
    if (found) return found
    if (this.#run.only) return this.#notThere()
    const until = lossEndsAt(this.#run.synced, this.#run.credentialLifetimeMs, this.#run.clock)
    if (until !== null) return { kind: 'waits', message: because('sent_before_loss', { until }) }
    const why = this.#run.breaker.whyOfType(job.file, parcel.picture.mime)
    if (why) return { kind: 'waits', message: why }
    if (album !== null || this.#default.known(this.#run) !== undefined) return send(this.#run, parcel, signal)
    return this.#run.lanes.alone(async () => {
      const learned = this.#default.known(this.#run)
      if (learned !== undefined) return send(this.#run, { ...parcel, album: learned }, signal)
      const result = await send(this.#run, parcel, signal)
      if (result.kind === 'uploaded') await this.#default.learn(this.#run, result.imageId, signal)
      return result
    })
  }

  /** After a state loss, a plan without listings can't tell what the host holds, so the picture fails. Null: it does not fail. */
  #blindly(failure: HostFailure, hash: Buffer): UploadResult | null {
    const { synced, clock } = this.#run
    if (!isUnlisted(failure) || synced.meta.get('restored') === null) return null
    const message = because('perhaps_sent_before_loss')
    return { kind: 'failed', code: 'STATE_RESTORED', message, retryAt: clock.wall() + HOUR_MS, hash }
  }

  /** The host has no image of the picture, or can't be asked because the plan has no listings. */
  #notThere(): UploadResult {
    const shut = this.#run.host.blocks().find(({ endpoint }) => endpoint === 'list')
    return shut ? { kind: 'waits', message: because('host_not_asked', { why: shut.message }) } : notThere
  }

  #refused(failure: HostFailure, hash: Buffer, job: UploadJob): UploadResult {
    const refusals = this.#run.synced.failures.ofUpload(job.file)?.refusals ?? 0
    return resultOfRefusal(failure, hash, this.#run.clock.wall(), refusals)
  }
}

/** Whether another file of the folder has the name on the host that this one would get. A host may take two images of one name
 * for one. The file with an image comes first, and then the one that keeps its own name. */
function namesakeOf({ files }: Synced, { folder, name, image }: FileRow): Reason | null {
  const its = imageNameOf(name)
  const other = its === name ? name.slice(0, -'.jpg'.length) : its
  const file = image === null && imageNameOf(other) === its ? files.at({ folder, name: other }) : undefined
  const isFirst = file && isAtPath(file.state) && (file.image !== null || its !== name)
  return isFirst ? because('name_taken', { name: other }) : null
}

/** An image of these bytes, name and album that no file uses: it waits for its deletion, or is kept for good. Only what would be
 * sent counts, so that no image from before is used again that has what is taken out now. An image that was only linked does not
 * replace another. A run that does not ask the host takes none that an audit found gone. */
function unusedImageOf(
  { synced, only }: UploadRun,
  { job: { file }, sent, album }: Omit<Parcel, 'picture'>,
): ImageRow | undefined {
  return synced.images.byHash(sent.hash).find(image => {
    const isSure = image.proof !== 'none' || file.image === null
    const isHere = image.album === (album?.id ?? null) && image.name === imageNameOf(file.name) && isSure
    const isFree = synced.files.onImage(image.id).every(({ state }) => state === 'gone')
    const isGone = only === 'compare' && synced.audit.has('gone', image.remote_id)
    const isDoubted = synced.refuted.has(image.remote_id, image.hash)
    return isHere && isFree && !isGone && !isDoubted && !synced.journal.deletionOf(image.id)
  })
}

function ofType(result: UploadResult, mime: string): UploadResult {
  return result.kind === 'uploaded' || result.kind === 'failed' ? { ...result, mime } : result
}

function isUnlisted({ endpoint, remedy }: HostFailure): boolean {
  return endpoint === 'list' && remedy === 'plan'
}

const leaving: HostFailure = {
  remedy: 'find_out',
  endpoint: 'create_album',
  code: ALBUM_IN_DOUBT,
  message: because('album_deletion_open'),
  repeated: true,
}

const notThere: UploadResult = { kind: 'waits', message: because('not_on_host') }

const sentBefore: HostFailure = {
  remedy: 'find_out',
  endpoint: 'send',
  code: 'UNCERTAIN',
  message: because('same_bytes_sent'),
  repeated: true,
}
