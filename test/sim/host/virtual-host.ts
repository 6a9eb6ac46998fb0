import { imageRecord } from '../../../src/host/listing.ts'
import { Refusal } from '../../../src/host/refusal.ts'
import type { ErrorCode } from '../../../src/protocol/errors.ts'
import type { UploadRequest } from '../../../src/protocol/records.ts'
import type { CreatedAlbum, ListPage, Sent } from '../../../src/remote/host.ts'
import { readTiny } from '../disk/tiny-picture.ts'
import { hashOf, versionOf } from '../disk/tree.ts'
import type { Timeline } from '../engine/virtual-clock.ts'
import type { Random } from '../histories/random.ts'
import { LIFETIME_MS, PLAIN_READINGS, type Readings, type Variations } from '../histories/variations.ts'
import { Faults } from './faults.ts'
import { type HostKit, KEY } from './host-kit.ts'
import { type Actor, HostTruth, pathOfAlbum, type TrueAlbum, type TrueImage } from './host-truth.ts'
import { viewOf } from './listing-view.ts'
import { OwnRefusal } from './refused-format.ts'

const DAY_MS = 86_400_000
const ABSENCE_MS = 300_000
/** What the oracle hears of. */
export interface HostEvents {
  stored(image: TrueImage): void
  albumMade(album: TrueAlbum, sawUntil: number): void
  goneWithAlbum(images: readonly TrueImage[]): void
}

/** The real host's logic with one history's variations and faults. Calls throw Refusal where the host says no. */
export class VirtualHost {
  readonly truth: HostTruth
  /** A state that is lost while a list blinks can't be made anew by any means. */
  mayBlink = true
  readonly #walks = new Map<string | null, number>()
  faults = new Faults()
  readonly random: Random
  readonly variations: Variations
  readonly readings: Readings
  /** Images a day; Infinity where nobody has lowered it. */
  quota = Number.POSITIVE_INFINITY
  /** The account has a larger plan by now: it makes albums. */
  makesAlbums = false
  /** So many of albumd's next deletions are answered and not done. */
  keepsDeleted = 0
  /** What albumd has asked for so far: lists, and all else; and of how many pictures it has heard that their format is refused. */
  readonly asked = { lists: 0, others: 0, refused: 0 }
  /** As the variation; Infinity: credentials are taken for as long as it promises. */
  keeps: number
  readonly #kit: HostKit
  readonly #time: Timeline
  /** Whoever hears of what is stored, made and deleted. */
  readonly events: HostEvents[] = []
  readonly #account
  readonly #credentials = new Map<string, Issued>()
  /** When each picture that counts was counted. */
  readonly #used: number[] = []
  readonly #absent = new Map<string, number>()
  /** By image, its address where addresses tell the day and the kind of file. */
  readonly #dated = new Map<string, string>()
  /** The same where an address tells the name alone. */
  readonly #named = new Map<string, string>()

  /** Within how many milliseconds a picture arrives. */
  sendMs = 400

  constructor(kit: HostKit, time: Timeline, random: Random, variations: Variations) {
    this.#kit = kit
    this.#time = time
    this.random = random
    this.variations = variations
    this.keeps = variations.keeps ?? Number.POSITIVE_INFINITY
    this.readings = { ...PLAIN_READINGS, ...variations.readings }
    this.truth = new HostTruth(time)
    kit.reset(() => time.now, random, this.readings)
    this.#account = kit.service.identify(KEY)
    if (variations.defaultAlbum !== null) this.makeAlbum(variations.defaultAlbum, null, 'other')
  }

  askedInAll(): number {
    return this.asked.lists + this.asked.others
  }

  requestUpload(request: UploadRequest, by: Actor): { token: string; cdnUrl: string | null } {
    this.#refuseFormat('upload', request.mime_type, by)
    const album_id = this.#known(request.album_id ?? null) ?? this.#defaultAlbum()
    this.#useQuota('credential', by)
    const { token, imageId } = this.#kit.service.requestUpload(this.#account, { ...request, album_id })
    const album = this.truth.album(album_id ?? null)
    const counts = by !== 'other' && this.variations.quotaAt === 'credential'
    const { file_name: name, file_size: declared, width = 1, height = 1 } = request
    const issued = { id: imageId, name, width, height, declared, bytes: 0 }
    this.#credentials.set(token, { ...issued, album, at: this.#time.now, counts })
    this.#dated.set(imageId, datedAddress(imageId, request.file_name, this.#time.now))
    this.#named.set(imageId, `https://cdn.example/${request.file_name}`)
    return { token, cdnUrl: this.#answered('first', imageId) }
  }

  /** `source`: the path that it is sent for; null for another person's. */
  async send(token: string, name: string, bytes: Buffer, source: string | null, by: Actor): Promise<Sent> {
    const { service } = this.#kit
    const { credential } = service.admitUpload(token)
    if (by !== 'other' && this.isTooOld(token))
      throw new Refusal('spentCredential', 'The address has run out.')
    this.#refuseFormat('send', readTiny(bytes)?.mime, by)
    const id = await service.send(credential, once(bytes))
    this.#useQuota('sent', by)
    const issued = this.#credentials.get(token)!
    issued.counts = false
    issued.bytes = null
    const twin = this.#twinOf(bytes)
    if (twin) {
      await service.delete(this.#account, { img: id, album: null })
      // It stands for a picture again.
      if (twin.keptDeleted) Object.assign(twin, { keptDeleted: false, deletionAsked: false })
      return this.#stored(twin.id)
    }
    const { width, height } = service.delivered(id)
    const { now } = this.#time
    const before = this.#ofSameName(issued.album, name, source)
    if (before) {
      await service.delete(this.#account, { img: before.id, album: null })
      this.#kit.rename(id, before.id)
      const arrived = { hash: versionOf(bytes), bytes, width, height, source, at: now, askedAt: issued.at }
      Object.assign(before, arrived, { deletionAsked: false, keptDeleted: false })
      for (const watch of this.events) watch.stored(before)
      return this.#stored(before.id)
    }
    const lag = this.variations.listLagMs > 0 ? this.random.below(this.variations.listLagMs) : 0
    const image: TrueImage = {
      id,
      album: issued.album,
      name,
      hash: versionOf(bytes),
      bytes,
      width,
      height,
      by,
      source,
      at: now,
      askedAt: issued.at,
      listedFrom: Math.min(now + lag, Math.max(now, issued.at + LIFETIME_MS)),
      deletionAsked: false,
      keptDeleted: false,
      misplaced: false,
      gone: null,
      shownUntil: 0,
    }
    this.truth.images.set(id, image)
    for (const watch of this.events) watch.stored(image)
    return this.#stored(id)
  }

  /** Whether the host takes a credential no more, though it has promised to. */
  isTooOld(token: string): boolean {
    const { bytes = null, at = 0 } = this.#credentials.get(token) ?? {}
    return bytes !== null && this.#time.now - at > this.keeps * this.sendMs
  }

  list(asked: string | null, page: number): ListPage {
    const album = this.#known(asked)
    this.#refuseWithout('list')
    const { service } = this.#kit
    const listed = service.list(this.#account, album, '1')
    for (let more = 2; more <= listed.pagination.total_pages; more++)
      listed.images.push(...service.list(this.#account, album, String(more)).images)
    if (this.#blinks(album, page)) listed.images = withoutNewest(this.truth, listed.images)
    listed.images.push(...this.promised(album))
    return viewOf(this, this.#time.now, listed, album, page)
  }

  /** A part of the form has come that holds a picture of so many bytes, and then nothing. */
  cut(token: string, bytes: number): void {
    const issued = this.#credentials.get(token)
    if (issued?.bytes === 0) issued.bytes = cutAt(token, bytes)
  }

  /** The images of an album that are listed, and whose bytes are not there yet. */
  promised(album: string | null) {
    const { promises } = this.variations
    if (promises === null) return []
    const all = [...this.#credentials.values()].filter(
      issued =>
        issued.bytes !== null &&
        (issued.album?.id ?? null) === album &&
        (promises === 'kept' || issued.at + LIFETIME_MS > this.#time.now) &&
        !this.truth.images.has(issued.id),
    )
    const sizeOf = (come: number, declared: number) => ({ received: come, declared, kept: 0 })[promises]
    return all.map(({ bytes, declared, at, ...issued }) =>
      imageRecord({ ...issued, size: sizeOf(bytes!, declared), created_at: at }),
    )
  }

  /** Whether this page belongs to a walk that the newest image is missing in. */
  #blinks(album: string | null, page: number): boolean {
    const walks = (this.#walks.get(album) ?? 0) + (page === 1 ? 1 : 0)
    this.#walks.set(album, walks)
    return this.mayBlink && this.variations.blinks === (walks % 2 === 1 ? 'odd' : 'even')
  }

  async deleteImage(id: string, by: Actor): Promise<void> {
    if (by !== 'other') this.#refuseWithout('delete')
    const image = this.truth.images.get(id)
    if (by !== 'other' && image?.gone === null && this.keepsDeleted > 0) {
      this.keepsDeleted--
      image.keptDeleted = true
      return
    }
    await this.#kit.service.delete(this.#account, { img: id, album: null })
    const shown = this.variations.deletionLagMs
    this.truth.deleteImage(this.truth.images.get(id)!, by, shown > 0 ? this.random.below(shown) : 0)
  }

  async deleteAlbum(id: string, by: Actor): Promise<void> {
    if (by !== 'other') this.#refuseWithout('delete')
    const album = this.truth.albums.get(id)
    const deletion = this.#kit.service.delete(this.#account, { img: null, album: id })
    // The host lists none of it any more: it clears away many files in turns of their own, for which no time passes here.
    const inside = album && !album.gone ? this.truth.deleteAlbum(album, by) : []
    await deletion
    if (by !== 'other') for (const watch of this.events) watch.goneWithAlbum(inside)
  }

  /** `sawUntil`: what others made before that is known to whoever asks. */
  makeAlbum(name: string, parent: string | null, by: Actor, sawUntil = 0): CreatedAlbum {
    const place = this.#known(parent)
    const above = this.truth.album(place)
    if (by !== 'other') {
      this.#refuseWithout('create_album')
      const depth = above === null ? 1 : pathOfAlbum(above).split('/').length + 1
      if (depth > this.variations.depthMax) throw new Refusal('tooDeep', 'Albums are nested too deep.')
    }
    const made = this.#kit.service.createAlbum(this.#account, { name, parent_album: place })
    const album: TrueAlbum = { id: made.id, parent: above, name, by, at: this.#time.now, gone: false }
    this.truth.albums.set(made.id, album)
    for (const watch of this.events) watch.albumMade(album, sawUntil)
    return made
  }

  /** Null: not found. */
  deliver(cdnUrl: string): TrueImage | null {
    const { now } = this.#time
    if (this.variations.delivery === 'nothing') return null
    if ((this.#absent.get(cdnUrl) ?? 0) > now) return null
    // Of several images with one address the newest is delivered.
    for (const image of [...this.truth.images.values()].reverse())
      if (this.#cdnUrl(image.id) === cdnUrl && (image.gone === null || image.shownUntil > now)) return image
    if (this.variations.cachesAbsence) this.#absent.set(cdnUrl, now + ABSENCE_MS)
    return null
  }

  /** Another person uploads an image. */
  async upload(album: string | null, name: string, bytes: Buffer): Promise<void> {
    const picture = readTiny(bytes)!
    const { width, height, mime } = picture
    const request: UploadRequest = {
      file_name: name,
      file_size: bytes.length,
      mime_type: mime,
      ...(width !== null && height !== null && !picture.turned
        ? { width, height }
        : { skip_dimension_check: true }),
      ...(album !== null && { album_id: album }),
    }
    const { token } = this.requestUpload(request, 'other')
    await this.send(token, name, bytes, null, 'other')
  }

  /** Another person puts an image into another album, under another name perhaps. */
  place(image: TrueImage, album: TrueAlbum | null, name: string): void {
    this.#kit.place(image.id, album?.id ?? null, name)
    Object.assign(image, { album, name, misplaced: true })
  }

  /** The quota is used up, but for so many. */
  lowerQuota(left: number): void {
    this.quota = this.#usedNow() + left
  }

  /** What the second step of an upload answers. */
  #stored(id: string): Sent {
    if (!this.variations.tellsImage) return { imageId: null, cdnUrl: null }
    return { imageId: id, cdnUrl: this.#answered('second', id) }
  }

  /** The address as a step of the upload answers it. */
  #answered(step: 'first' | 'second', id: string): string | null {
    const { cdnUrl } = this.readings
    return cdnUrl === 'both' || cdnUrl === step ? this.#cdnUrl(id) : null
  }

  #cdnUrl(id: string): string {
    if (this.variations.delivery === 'id') return `https://cdn.example/i/${id}`
    if (this.variations.delivery === 'dated') return this.#dated.get(id)!
    if (this.variations.delivery === 'named') return this.#named.get(id)!
    if (this.variations.delivery === 'file') return `https://cdn.example/files/${id}.img`
    // Nothing in it is the image's id.
    return `https://cdn.example/x/${hashOf(Buffer.from(id)).slice(0, 16)}`
  }

  /** The album that the host takes for this one. */
  #known(album: string | null): string | null {
    return this.variations.strays && this.truth.album(album)?.gone !== false ? null : album
  }

  #defaultAlbum(): string | undefined {
    const { defaultAlbum } = this.variations
    if (defaultAlbum === null) return undefined
    return this.truth.liveAlbums().find(({ name, parent }) => name === defaultAlbum && parent === null)?.id
  }

  /** What was sent for another path stays: two pictures of one name that lie flat in one album are beyond any help here. */
  #ofSameName(album: TrueAlbum | null, name: string, source: string | null): TrueImage | undefined {
    if (!this.variations.keepsIds || source === null) return undefined
    const isIt = (image: TrueImage) => image.album === album && image.name === name && image.source === source
    return this.truth.live().find(isIt)
  }

  /** Of albumd's alone: what others have put there is another matter. */
  #twinOf(bytes: Buffer): TrueImage | undefined {
    if (!this.variations.oneId) return undefined
    return this.truth.live().find(image => image.by !== 'other' && image.bytes.equals(bytes))
  }

  /** What others have put there is another matter. */
  #refuseFormat(at: 'upload' | 'send', mime: string | undefined, by: Actor): void {
    const { refuses } = this.variations
    if (by === 'other' || refuses?.at !== at || refuses.mime !== mime) return
    throw new OwnRefusal(refuses)
  }

  #useQuota(at: Variations['quotaAt'], by: Actor): void {
    if (by === 'other') return
    this.#giveBack()
    if (at === 'credential' && this.#usedNow() >= this.quota)
      throw new Refusal('DAILY_LIMIT_REACHED', "The day's images are used up.")
    if (at === this.variations.quotaAt) this.#used.push(this.#time.now)
  }

  /** On this day, or in the last 24 hours. */
  #usedNow(): number {
    const { now } = this.#time
    const began = this.variations.rollingQuota ? now - DAY_MS + 1 : Math.floor(now / DAY_MS) * DAY_MS
    return this.#used.filter(at => at >= began).length
  }

  /** Credentials that ran out unused give their places back, where the host is one that does so. */
  #giveBack(): void {
    if (this.readings.unusedCredential === 'counts') return
    for (const credential of this.#credentials.values()) {
      if (!credential.counts || credential.at + LIFETIME_MS > this.#time.now) continue
      credential.counts = false
      this.#used.splice(this.#used.indexOf(credential.at), 1)
    }
  }

  /** Whether the account's plan does not allow the endpoint. */
  lacks(endpoint: Variations['without'][number]): boolean {
    return this.variations.without.includes(endpoint) && !(endpoint === 'create_album' && this.makesAlbums)
  }

  #refuseWithout(endpoint: Variations['without'][number]): void {
    if (this.lacks(endpoint))
      throw new Refusal('PLAN_NOT_SUPPORTED' satisfies ErrorCode, 'This endpoint begins with another plan.')
  }
}

/** A credential, and what has come with it. `bytes`: null once the picture was stored. */
interface Issued {
  id: string
  name: string
  width: number
  height: number
  declared: number
  bytes: number | null
  album: TrueAlbum | null
  at: number
  counts: boolean
}

/** Without the newest of what albumd has sent there. */
function withoutNewest<T extends { id: string }>({ images }: HostTruth, listed: T[]): T[] {
  const ours = listed.flatMap(({ id }) => images.get(id) ?? []).filter(({ by }) => by !== 'other')
  const newest = ours.toSorted((one, other) => other.at - one.at)[0]
  return listed.filter(({ id }) => id !== newest?.id)
}

/** Where a form was cut, in bytes of its picture: before them, at any of them, or after all. The token was drawn, so that nothing
 * else is to be. */
function cutAt(token: string, bytes: number): number {
  const drawn = Number.parseInt(hashOf(Buffer.from(token)).slice(0, 8), 16)
  return Math.min(Math.max((drawn % (2 * bytes)) - (bytes >> 1), 0), bytes)
}

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes
}

function datedAddress(id: string, name: string, at: number): string {
  const day = new Date(at).toISOString().slice(0, 10).replaceAll('-', '/')
  return `https://cdn.example/${day}/${id}${name.slice(name.lastIndexOf('.'))}`
}
