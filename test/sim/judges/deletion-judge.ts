import { RESTORE_FOLDER } from '../../../src/local/look.ts'
import type { MirrorPolicy } from '../../../src/sync/pass-request.ts'
import { isIgnored, livePictures } from '../disk/live-pictures.ts'
import { type FileNode, split, upwards } from '../disk/tree.ts'
import { isBelievedThere, pathOfAlbum, type TrueImage } from '../host/host-truth.ts'
import { listedName } from '../host/listing-view.ts'
import { doubtAbout, doubtAboutRoot } from './doubts.ts'
import { isKnown, mirrorOf, nameOf } from './facts.ts'
import { ImageJudge } from './judge.ts'

/** Judges the deletion of an image at the moment it leaves. Each invariant is one function. */
export class DeletionJudge extends ImageJudge {
  readonly #fetched = new Set<string>()
  readonly #hold = new HoldJudge(
    image => this.#goneFor(image),
    this.facts,
    this.report,
    this.known,
    this.truth,
  )
  /** Whether a person has only had failures tried again, so that what was never asked to be deleted stays. */
  onlyAgain = false
  /** The ids of images that the host has refused to delete. */
  readonly refused = new Set<string>()
  /** When the last deletion left. */
  #askedAt = 0

  fetched(id: string): void {
    this.#fetched.add(id)
  }

  /** The window in which deletions were counted is lost with the state. */
  forgetWindow(): void {
    this.#hold.forgetWindow()
  }

  /** Of all that goes with one request. */
  judge(images: readonly TrueImage[]): void {
    if (images.length > 0) this.#rootsLookedAtOnceMore()
    for (const image of images) this.#judge(image)
    this.#askedAt = this.facts.disk.happens()
  }

  /** What is gone already is asked for again, for its answer was lost: its bytes may stand elsewhere by now. */
  again(image: TrueImage): void {
    this.#hold.again(image)
  }

  #judge(image: TrueImage): void {
    this.#nothingForeignDeleted(image)
    this.#nothingNeededDeleted(image)
    this.#upBeforeDown(image)
    this.#noDeletionInDoubt(image)
    this.#noneOfARestore(image)
    this.#lookedOnceMore(image)
    this.#hold.judge(image)
    this.#nothingOfABackup(image)
    this.#nothingKept(image)
    this.#graceIsOver(image)
    if (this.onlyAgain && !image.deletionAsked && !this.refused.has(image.id))
      this.report(
        'nothing-unasked-deleted',
        `${nameOf(image)} is deleted, and a person has asked for a retry`,
      )
    image.deletionAsked = true
  }

  #nothingForeignDeleted(image: TrueImage): void {
    // A person's word is enough.
    if (image.by === 'albumd' || this.known.approved.has(image.id)) return
    const { disk } = this.facts
    if (!this.#fetched.has(image.id))
      this.report('nothing-foreign-deleted', `${nameOf(image)} was never looked at`)
    else if (![...disk.paths()].some(path => disk.everHeld(path, image.hash)))
      this.report('nothing-foreign-deleted', `no file ever had the bytes of ${nameOf(image)}`)
  }

  /** A backup keeps what is gone, moved or superseded. */
  #nothingOfABackup(image: TrueImage): void {
    if (mirrorOf(this.facts, image)?.deletions === 'keep')
      this.report('nothing-needed-deleted', `${nameOf(image)} is of a backup`)
  }

  /** What a person kept is not ours to delete, but where its picture has come back. */
  #nothingKept(image: TrueImage): void {
    const kept = this.known.kept.get(image.id)
    if (kept === undefined || this.known.approved.has(image.id)) return
    if ((this.#metAt(image) ?? 0) <= kept)
      this.report('nothing-foreign-deleted', `a person has kept ${nameOf(image)}`)
  }

  /** A picture that was met a short time ago may come back. */
  #graceIsOver(image: TrueImage): void {
    const gone = this.#goneFor(image)
    if (gone < this.facts.graceMs && !this.known.approved.has(image.id))
      this.report('grace', `${nameOf(image)} goes ${gone} ms after its picture was met`)
  }

  /** For how long its picture has not been met; without end where nobody waits for it. */
  #goneFor(image: TrueImage): number {
    const met = this.#prunedAt(image) ?? this.#metAt(image)
    const { source } = image
    const wasGone = source !== null && this.facts.pruning.wasGoneBefore(source)
    const isExcused = wasGone || this.#isReplaced(image) || this.#isHiddenOver(image)
    // A command waits by the clock, which may have been set back.
    return met === undefined || isExcused ? Number.POSITIVE_INFINITY : Math.max(0, this.facts.waited() - met)
  }

  /** Its picture came back to another album, after its deletion had begun or with other metadata, and has an image of its own. */
  #isReplaced(image: TrueImage): boolean {
    return this.#others(image).some(
      other =>
        (other.album !== image.album || image.deletionAsked || !other.bytes.equals(image.bytes)) &&
        other.source === image.source &&
        other.hash === image.hash,
    )
  }

  /** The other images that are there as far as albumd can know, and stay. */
  #others(image: TrueImage): TrueImage[] {
    const there = [...this.truth.images.values()].filter(isBelievedThere)
    return there.filter(other => other !== image && !other.deletionAsked)
  }

  /** Its picture is hidden, and not read: it keeps the image that it had when it was last looked at, another one. */
  #isHiddenOver({ id, source }: TrueImage): boolean {
    const { disk, mirrors, recordOf } = this.facts
    return source !== null && isIgnored(disk, mirrors, source) && recordOf(source)?.image !== id
  }

  /** Its place is hidden, and a person asked to give up what is: from when its grace counts, whatever is written there. */
  #prunedAt({ source }: TrueImage): number | undefined {
    const { disk, pruning } = this.facts
    const node = source === null ? undefined : disk.find(source)?.node
    return node?.kind === 'file' ? pruning.askedAt(source!) : undefined
  }

  /** When a look last met its picture in its place. */
  #metAt({ source, hash }: TrueImage): number | undefined {
    return source === null ? undefined : this.facts.looks.metAt(source, hash)
  }

  #hasPictureOf(image: TrueImage, path: string, { hash, bytes }: FileNode): boolean {
    const { stripping } = this.facts
    return hash === image.hash && isKnown(this.facts, path) && stripping.mayKnow(image, path, bytes)
  }

  #areListedAlike(one: TrueImage, other: TrueImage): boolean {
    const { variations } = this.facts
    return (
      one.album === other.album && listedName(one.name, variations) === listedName(other.name, variations)
    )
  }

  #nothingNeededDeleted(image: TrueImage): void {
    const { disk, mirrors, recordOf } = this.facts
    const left = this.truth
      .live()
      .filter(other => other !== image && !other.deletionAsked && other.hash === image.hash)
    for (const { path, node } of livePictures(disk, mirrors)) {
      if (!this.#hasPictureOf(image, path, node)) continue
      if (this.#wasTakenByOthers(path, node.hash) || this.#isBeingWritten(path, node)) continue
      // Its name alone was seen again, by the last look before its own deletion, or a person gave it up: no scan knows of its bytes.
      const state = recordOf(path)?.state ?? (this.facts.pruning.hasGiven(path) ? 'gone' : null)
      if (image.source !== path && state === 'gone') continue
      const pruned = this.facts.pruning.askedAt(path) !== undefined
      if (left.length === 0 && !pruned && !isIgnored(disk, mirrors, path))
        this.report('nothing-needed-deleted', `${path} stands on ${nameOf(image)}`)
      // A plan that has grown may give it another place, and of two images that are listed under one name it may use either.
      const same = left.some(
        other =>
          other.source === path ||
          (this.#areListedAlike(image, other) && recordOf(path)?.image === other.id) ||
          (other.name === image.name && pathOfAlbum(other.album) === pathOfAlbum(image.album)),
      )
      if (image.source === path && !same && !pruned && !this.#isHiddenOver(image))
        this.report('nothing-needed-deleted', `${path} has ${nameOf(image)} for its image`)
    }
  }

  #upBeforeDown(image: TrueImage): void {
    const path = image.source
    if (path === null || !isKnown(this.facts, path)) return
    const node = this.facts.disk.find(path)?.node
    if (!node || node.kind === 'folder' || this.facts.pruning.askedAt(path) !== undefined) return
    const isPicture = node.kind === 'file' && node.bytes.length > 0 && node.readable
    if (isPicture && node.hash === image.hash) return
    const inUse = this.facts.recordOf(path)?.image
    // Where equal bytes have one id, an image may lie where another file of its bytes was, whose place it is no more.
    if (this.facts.variations.oneId && inUse !== image.id) return
    const newer = [...this.truth.images.values()].some(
      other =>
        (isPicture && other.hash === node.hash && isBelievedThere(other)) ||
        // A version between the two stands for it meanwhile, wherever it came from.
        (other !== image &&
          (other.source === path || other.id === inUse) &&
          !other.deletionAsked &&
          isBelievedThere(other)),
    )
    if (!newer) this.report('up-before-down', `${nameOf(image)} goes, and ${path} is not on the host`)
  }

  /** While another mirror's root is in doubt, a picture may have gone there. */
  #noDeletionInDoubt(image: TrueImage): void {
    const mirror = mirrorOf(this.facts, image)
    if (!mirror) return
    const { disk, looks, doubts, mirrors } = this.facts
    const others = mirrors.filter(other => other !== mirror)
    const doubt =
      doubtAbout(disk, looks, doubts, mirror) ??
      others.map(other => doubtAboutRoot(disk, looks, doubts, other)).find(why => why !== null)
    if (doubt) this.report('no-deletion-in-doubt', `${nameOf(image)} goes while ${doubt}`)
  }

  /** Also when the restore has begun since albumd looked at the folder. */
  #noneOfARestore(image: TrueImage): void {
    const { disk, recordOf, variations } = this.facts
    if (image.source === null || variations.oneId || recordOf(image.source)?.image !== image.id) return
    const { folder } = split(image.source)
    const into = [...upwards(folder)].find(above => disk.find(`${above}/${RESTORE_FOLDER}`))
    if (into) this.report('no-deletion-in-doubt', `${nameOf(image)} goes while ${into} is restored`)
  }

  /** Right before each deletion: what has just been replaced may be where a picture has gone. */
  #rootsLookedAtOnceMore(): void {
    const { looks, mirrors, doubts } = this.facts
    for (const { folder } of mirrors)
      if (doubts.heldPictures(folder) && looks.statedAt(folder) <= this.#askedAt)
        this.report('no-deletion-in-doubt', `${folder} was not looked at once more before a deletion`)
  }

  /** Where a picture was whose image goes, the place is looked at in the same pass. */
  #lookedOnceMore(image: TrueImage): void {
    const { id, hash, source, at } = image
    const { disk, looks, doubts, variations } = this.facts
    if (source === null || disk.find(source) || this.known.stateLost || variations.oneId) return
    // Where albums are missing, pictures of several folders share one, and an image may be taken for another's.
    if (this.known.albumsMissing() || variations.without.includes('create_album') || variations.depthMax < 10)
      return
    // An older version's image has been replaced by that of a newer one, whatever became of the file since.
    const last = disk.lastHeld(source)
    const isOld = (other: TrueImage) => other.at > at || (other.hash === last && last !== hash)
    const isOfPlace = (other: TrueImage) =>
      other.source === source || (other.name === image.name && other.album === image.album)
    if ([...this.truth.images.values()].some(other => isOfPlace(other) && isOld(other))) return
    if (looks.statedAt(source) < doubts.pass)
      this.report(
        'no-deletion-in-doubt',
        `image ${id.slice(0, 6)} goes, and ${source} was not looked at once more`,
      )
  }

  /** What albumd waits for was of another size when it was looked at. */
  #isBeingWritten(path: string, { bytes }: FileNode): boolean {
    const record = this.facts.recordOf(path)
    return record?.state === 'pending' && record.size !== bytes.length
  }

  /** The host is never a source: nobody tells albumd that a picture's image is gone. */
  #wasTakenByOthers(path: string, hash: string): boolean {
    const { name: named } = split(path)
    // Where folders share an album, a picture that moved stands on the image that it had.
    for (const { source, name, hash: stored, gone } of this.truth.images.values())
      if ((source === path || name === named) && stored === hash && gone?.by === 'other') return true
    return false
  }
}

const WINDOW_MS = 86_400_000

/** What was deleted unasked, over the last day of running. */
export class DeletionWindow {
  #givenUp: { image: TrueImage; mirror: MirrorPolicy; at: number }[] = []

  /** Answers how many of the mirror's images that are with this one. Asked for again it is still one. */
  add(image: TrueImage, mirror: MirrorPolicy, now: number): number {
    this.#givenUp = this.#givenUp.filter(given => given.at > now - WINDOW_MS && given.image !== image)
    this.#givenUp.push({ image, mirror, at: now })
    return this.#givenUp.filter(given => given.mirror === mirror).length
  }

  images(): TrueImage[] {
    return this.#givenUp.map(({ image }) => image)
  }

  /** It is none after all. */
  remove(id: string): void {
    this.#givenUp = this.#givenUp.filter(({ image }) => image.id !== id)
  }
}

/** Counts the deletions of each mirror, as its hold must. */
export class HoldJudge extends ImageJudge {
  #window = new DeletionWindow()
  readonly #goneFor: (image: TrueImage) => number

  /** `goneFor`: for how long an image's picture has not been met. */
  constructor(goneFor: (image: TrueImage) => number, ...others: ConstructorParameters<typeof ImageJudge>) {
    super(...others)
    this.#goneFor = goneFor
  }

  forgetWindow(): void {
    this.#window = new DeletionWindow()
  }

  /** What was asked for before is asked for again. */
  again(image: TrueImage): void {
    if (this.#standsElsewhere(image)) this.#window.remove(image.id)
  }

  /** No more go than the hold allows, but for what a person has approved. */
  judge(image: TrueImage): void {
    const mirror = mirrorOf(this.facts, image)
    // A person's word may have come after it was asked for once.
    for (const { id } of this.#window.images()) if (this.known.approved.has(id)) this.#window.remove(id)
    if (!mirror || this.known.approved.has(image.id) || this.#mayCountElsewhere(image, mirror)) return
    const live = this.truth.live()
    // Asked for before, what can't be known to be gone may have its bytes elsewhere since.
    for (const before of this.#window.images())
      if (this.facts.mayBeDeleted(before.id) && this.#standsElsewhere(before)) this.#window.remove(before.id)
    if (this.#standsElsewhere(image)) return
    const { hold, running, graceManyMs } = this.facts
    const going = this.#window.add(image, mirror, running())
    const standing = live.filter(other => mirrorOf(this.facts, other) === mirror).length
    const all = standing + going
    if ((going > hold.hold_min && going > hold.hold_above * all) || (going > 3 && going > all / 2))
      this.report(
        'no-deletion-in-doubt',
        `${going} deletions in a day beside ${standing} images were not held`,
      )
    // Before anyone could have said no.
    const isFew = going <= 3 || (going <= 20 && going <= all / 20)
    const gone = this.#goneFor(image)
    if (!isFew && gone < graceManyMs)
      this.report(
        'grace-of-many',
        `${going} deletions in a day beside ${standing} images: one after ${gone} ms`,
      )
  }

  /** Where equal bytes have one id, it counts for the mirror that stood on it last, wherever it came from. */
  #mayCountElsewhere({ hash }: TrueImage, mirror: MirrorPolicy): boolean {
    const { variations, disk, mirrors } = this.facts
    if (!variations.oneId) return false
    const others = mirrors.filter(other => other !== mirror)
    return [...disk.paths()].some(
      path => others.some(({ folder }) => path.startsWith(`${folder}/`)) && disk.everHeld(path, hash),
    )
  }

  /** Whose bytes stand elsewhere only moved. */
  #standsElsewhere(image: TrueImage): boolean {
    return [...this.truth.images.values()].some(
      other => other !== image && other.hash === image.hash && isBelievedThere(other),
    )
  }
}
