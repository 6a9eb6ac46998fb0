import type { PictureBody } from '../../src/remote/host.ts'
import type { HoldPolicy } from '../../src/sync/hold.ts'
import type { MirrorPolicy } from '../../src/sync/mirror-scans.ts'
import { DeletionWindow } from './deletion-window.ts'
import type { Looks, Sources } from './disk-port.ts'
import { doubtAbout, type Grounds } from './grounds.ts'
import type { Watch } from './host-port.ts'
import { type HostTruth, pathOfAlbum, type TrueAlbum, type TrueImage } from './host-truth.ts'
import { isIgnored, livePictures } from './live-pictures.ts'
import { split } from './tree.ts'
import type { Variations } from './variations.ts'
import type { VirtualDisk } from './virtual-disk.ts'

export interface Violation {
  invariant: string
  what: string
}

export interface OracleParts {
  disk: VirtualDisk
  looks: Looks
  sources: Sources
  mirrors: readonly MirrorPolicy[]
  hold: HoldPolicy
  variations: Variations
  grounds: Grounds
  /** True time that albumd ran, in milliseconds. */
  running: () => number
  /** Whether albumd has an image recorded whose bytes were never compared. */
  isLinked: (id: string) => boolean
}

/**
 * Knows what really happened to disk and host, and nothing of what albumd believes. It is asked before each request
 * that can't be undone leaves, and hears of all that the host stores. Each invariant is one function.
 */
export class Oracle implements Watch {
  violation: Violation | null = null
  /** Images whose deletion a person has approved. */
  readonly approved = new Set<string>()
  /** Images that a person has chosen to keep. */
  readonly kept = new Set<string>()
  /** Bytes that were half of a picture while somebody wrote it. */
  readonly halves = new Set<string>()
  /** Whether the host has refused to make an album, or to list, though its plan has both. */
  albumsMissing: () => boolean = () => false
  listRefused: () => boolean = () => false
  /** Albumd can't know what it did: its state was lost or is an old one. */
  stateLost = false
  /** Requests of albumd that changed the host, or could have. */
  effects = 0
  readonly #parts: OracleParts
  readonly #fetched = new Set<string>()
  #window = new DeletionWindow()
  #truth!: HostTruth

  constructor(parts: OracleParts) {
    this.#parts = parts
  }

  watch(truth: HostTruth): void {
    this.#truth = truth
  }

  report(invariant: string, what: string): void {
    this.violation ??= { invariant, what }
  }

  /** The window in which deletions were counted is lost with the state. */
  forgetDeletions(): void {
    this.stateLost = true
    this.#window = new DeletionWindow()
  }

  fetched(id: string): void {
    this.#fetched.add(id)
  }

  sending({ chunks }: PictureBody): string {
    this.effects++
    const source = this.#parts.sources.get(chunks)
    if (source === undefined) throw new Error('a picture was sent that was never opened')
    this.#nothingFromAnotherRoot(source)
    return source
  }

  imageDeletion(id: string): void {
    this.effects++
    const image = this.#truth.images.get(id)
    if (!image || image.gone) return
    this.#nothingForeignDeleted(image)
    this.#nothingNeededDeleted(image)
    this.#upBeforeDown(image)
    this.#noDeletionInDoubt(image)
    this.#lookedOnceMore(image)
    this.#noMoreThanTheHoldAllows(image)
    image.deletionAsked = true
  }

  albumDeletion(id: string): void {
    this.effects++
    const album = this.#truth.album(id)
    if (!album || album.gone) return
    if (album.by === 'other') this.report('nothing-foreign-deleted', `album ${pathOfAlbum(album)}`)
    for (const image of this.#truth.live())
      if (image.album === album) this.report('nothing-needed-deleted', `${image.name} with its album`)
    for (const other of this.#truth.liveAlbums())
      if (other.parent === album)
        this.report('nothing-needed-deleted', `${pathOfAlbum(other)} with its album`)
  }

  stored(image: TrueImage): void {
    if (image.by === 'other') return
    this.#nothingTwice(image)
    this.#nothingHalf(image)
  }

  albumMade(album: TrueAlbum): void {
    if (album.by === 'other') return
    this.effects++
    if (this.#parts.variations.without.includes('list')) return
    // With all its records an album is made again where the host does not know it; old ones must not make any.
    if (this.listRefused() && !this.stateLost) return
    for (const other of this.#truth.liveAlbums())
      if (
        other !== album &&
        other.by === 'albumd' &&
        other.parent === album.parent &&
        other.name === album.name
      )
        this.report('nothing-twice', `album ${pathOfAlbum(album)} was made twice`)
  }

  #nothingForeignDeleted(image: TrueImage): void {
    // A person's word is enough.
    if (image.by === 'albumd' || this.approved.has(image.id)) return
    const { disk } = this.#parts
    if (!this.#fetched.has(image.id))
      this.report('nothing-foreign-deleted', `${this.#nameOf(image)} was never looked at`)
    else if (![...disk.paths()].some(path => disk.everHeld(path, image.hash)))
      this.report('nothing-foreign-deleted', `no file ever had the bytes of ${this.#nameOf(image)}`)
  }

  #nothingNeededDeleted(image: TrueImage): void {
    const { disk, mirrors } = this.#parts
    const left = this.#truth
      .live()
      .filter(other => other !== image && !other.deletionAsked && other.hash === image.hash)
    for (const { path, node } of livePictures(disk, mirrors)) {
      if (node.hash !== image.hash || !this.#isKnown(path)) continue
      if (this.#wasTakenByOthers(path, node.hash)) continue
      if (left.length === 0 && !isIgnored(disk, mirrors, path))
        this.report('nothing-needed-deleted', `${path} stands on ${this.#nameOf(image)}`)
      const same = left.some(
        other => other.name === image.name && pathOfAlbum(other.album) === pathOfAlbum(image.album),
      )
      if (image.source === path && !same)
        this.report('nothing-needed-deleted', `${path} has ${this.#nameOf(image)} for its image`)
    }
  }

  #upBeforeDown(image: TrueImage): void {
    const path = image.source
    if (path === null || !this.#isKnown(path)) return
    const node = this.#parts.disk.find(path)?.node
    if (!node || node.kind === 'folder') return
    const isPicture = node.kind === 'file' && node.bytes.length > 0 && node.readable
    if (isPicture && node.hash === image.hash) return
    const newer = [...this.#truth.images.values()].some(
      other =>
        (isPicture && other.hash === node.hash) ||
        // A version between the two stands for it meanwhile.
        (other !== image && other.source === path && !other.deletionAsked && other.gone === null),
    )
    if (!newer) this.report('up-before-down', `${this.#nameOf(image)} goes, and ${path} is not on the host`)
  }

  #noDeletionInDoubt(image: TrueImage): void {
    const mirror = this.#mirrorOf(image)
    if (!mirror) return
    const { disk, looks, grounds } = this.#parts
    const doubt = doubtAbout(disk, looks, grounds, mirror)
    if (doubt) this.report('no-deletion-in-doubt', `${this.#nameOf(image)} goes while ${doubt}`)
  }

  /** Where a picture was whose image goes, the place is looked at in the same pass. */
  #lookedOnceMore({ id, source, at }: TrueImage): void {
    const { disk, looks, grounds, variations } = this.#parts
    if (source === null || disk.find(source) || this.stateLost || variations.oneId) return
    // Where albums are missing, pictures of several folders share one, and an image may be taken for another's.
    if (this.albumsMissing() || variations.without.includes('create_album') || variations.depthMax < 10)
      return
    // An older version's image has been replaced by that of a newer one, whatever became of the file since.
    if ([...this.#truth.images.values()].some(other => other.source === source && other.at > at)) return
    if (looks.statedAt(source) < grounds.pass)
      this.report(
        'no-deletion-in-doubt',
        `image ${id.slice(0, 6)} goes, and ${source} was not looked at once more`,
      )
  }

  #noMoreThanTheHoldAllows(image: TrueImage): void {
    const mirror = this.#mirrorOf(image)
    if (!mirror || this.approved.has(image.id)) return
    const live = this.#truth.live()
    // Whose bytes stand elsewhere only moved. Nobody tells albumd what another person took.
    const stood = [...this.#truth.images.values()].some(
      other => other !== image && other.hash === image.hash && other.gone?.by !== 'albumd',
    )
    if (stood) return
    const { hold, running } = this.#parts
    const going = this.#window.add(image, mirror, running())
    const standing = live.filter(other => this.#mirrorOf(other) === mirror).length
    if (going > hold.hold_min && going > hold.hold_above * (standing + going))
      this.report(
        'no-deletion-in-doubt',
        `${going} deletions in a day beside ${standing} images were not held`,
      )
  }

  #nothingFromAnotherRoot(source: string): void {
    const { grounds, looks } = this.#parts
    const root = `/${source.split('/')[1]}`
    const since = grounds.otherRoot.get(root)
    if (since !== undefined && looks.statedAt(root) > since)
      this.report('no-deletion-in-doubt', `${source} is sent from a root that is another one`)
  }

  #nothingTwice(image: TrueImage): void {
    const { variations } = this.#parts
    if (this.stateLost && variations.without.includes('list')) return
    for (const other of this.#truth.live()) {
      if (other === image || other.by === 'other' || other.deletionAsked || other.source !== image.source)
        continue
      if (other.hash !== image.hash || other.name !== image.name) continue
      if (pathOfAlbum(other.album) !== pathOfAlbum(image.album)) continue
      // It was another picture in between: its image from then is given up.
      const between = [...this.#truth.images.values()].some(
        ({ source, hash, at }) => source === image.source && hash !== image.hash && at >= other.at,
      )
      if (!between && !this.#isLinked(other))
        this.report('nothing-twice', `${this.#nameOf(image)} was sent twice`)
    }
  }

  /** After its state was lost albumd may have taken it for another version, by its looks. */
  #isLinked({ id }: TrueImage): boolean {
    return this.stateLost && this.#parts.isLinked(id)
  }

  #nothingHalf(image: TrueImage): void {
    const { disk } = this.#parts
    if (this.halves.has(image.hash)) this.report('nothing-half', `${image.source} was sent half written`)
    else if (!disk.everHeld(image.source!, image.hash))
      this.report('nothing-half', `${image.source} never had the bytes of ${this.#nameOf(image)}`)
  }

  /** The host is never a source: nobody tells albumd that a picture's image is gone. */
  #wasTakenByOthers(path: string, hash: string): boolean {
    for (const { source, hash: stored, gone } of this.#truth.images.values())
      if (source === path && stored === hash && gone?.by === 'other') return true
    return false
  }

  /** Whether the engine has read the folder since the picture came to be as it is. */
  #isKnown(path: string): boolean {
    const { disk, looks } = this.#parts
    return looks.readAt(split(path).folder) > disk.changedAt(path)
  }

  #mirrorOf({ source, album }: TrueImage): MirrorPolicy | undefined {
    const { mirrors } = this.#parts
    if (source !== null) return mirrors.find(({ folder }) => source.startsWith(`${folder}/`))
    const path = pathOfAlbum(album)
    return mirrors.find(mirror => mirror.album === '' || `${path}/`.startsWith(`${mirror.album}/`))
  }

  #nameOf(image: TrueImage): string {
    const where = `${pathOfAlbum(image.album)}/${image.name}`
    return `image ${image.id.slice(0, 6)} (${where}${image.by === 'other' ? ', of another person' : ''})`
  }
}
