import type { PictureBody } from '../../../src/remote/host.ts'
import { split } from '../disk/tree.ts'
import { looksEdited } from '../host/alterations.ts'
import { isIn, pathOfAlbum, type TrueAlbum, type TrueImage, type Truth } from '../host/host-truth.ts'
import { listedName } from '../host/listing-view.ts'
import { RepairJudge } from './audit-judge.ts'
import { DeletionJudge } from './deletion-judge.ts'
import { type Facts, nameOf, type TakeBack, type Watch } from './facts.ts'
import { whatMayHide } from './ignore-judge.ts'
import { QuotaJudge } from './quota-judge.ts'
import { SecrecyJudge } from './secrecy.ts'
import { UploadJudge } from './upload-judge.ts'
import { Words } from './words.ts'

export interface Violation {
  invariant: string
  what: string
}

/** Knows what really happened to disk and host. Of what albumd believes it asks only what excuses it: what can't be known
 * after a lost answer, and which image stands for which picture. It is asked before each request
 * that can't be undone leaves, and hears of all that the host stores. Each invariant is one function. */
export class Oracle implements Watch {
  violation: Violation | null = null
  /** Images whose deletion a person has approved. */
  readonly approved = new Set<string>()
  /** Images that a person has chosen to keep, and when, in running time. */
  readonly kept = new Map<string, number>()
  /** Bytes that were half of a picture while somebody wrote it. */
  readonly halves = new Set<string>()
  /** Whether the host has refused to make an album, or to list, though its plan has both. */
  albumsMissing: () => boolean = () => false
  listRefused: () => boolean = () => false
  /** Albumd can't know what it did: its state was lost or is an old one. */
  stateLost = false
  /** The paths of pictures of which only a fact beside the image data was edited. */
  readonly edited = new Set<string>()
  /** An audit has mended what others did. */
  mended = false
  /** Requests of albumd that changed the host, or could have. */
  effects = 0
  readonly #facts: Facts
  #truth!: Truth
  #judge!: DeletionJudge
  readonly uploads: UploadJudge
  readonly quota: QuotaJudge
  readonly secrecy: SecrecyJudge
  /** What a person has said of uploads in doubt. */
  readonly words: Words
  /** Judges what audits mend. */
  repairs!: RepairJudge
  /** What was asked to be deleted since a person has waited for the pass to end; null: nobody has. */
  #deletedSince: Set<string> | null = null

  constructor(facts: Facts) {
    this.#facts = facts
    const report = (invariant: string, what: string) => this.report(invariant, what)
    this.uploads = new UploadJudge(facts, report)
    this.quota = new QuotaJudge(facts, report)
    this.secrecy = new SecrecyJudge(facts.findSecret, report)
    this.words = new Words(facts, () => this.#truth.images.values())
  }

  watch(truth: Truth): void {
    this.#truth = truth
    const report = (invariant: string, what: string) => this.report(invariant, what)
    this.#judge = new DeletionJudge(this.#facts, report, this, truth)
    this.repairs = new RepairJudge(this.#facts, report, this, truth)
  }

  keeps(id: string): void {
    this.kept.set(id, this.#facts.waited())
  }

  report(invariant: string, what: string): void {
    this.violation ??= { invariant, what }
  }

  /** The window in which deletions were counted is lost with the state. */
  forgetDeletions(): void {
    this.stateLost = true
    this.#judge.forgetWindow()
    // Albumd does not know any more that it deleted them.
    for (const image of this.#truth.live()) if (image.keptDeleted) image.deletionAsked = false
  }

  fetched(id: string): void {
    this.#judge.fetched(id)
    this.repairs.fetched(id)
  }

  credential(name: string): void {
    this.uploads.credential(name)
  }

  credentialTooOld(path: string, mayBeKnown: boolean): void {
    this.uploads.credentialTooOld(path, mayBeKnown)
  }

  sending({ chunks }: PictureBody): string {
    this.effects++
    const source = this.#facts.sources.get(chunks)
    if (source === undefined) throw new Error('a picture was sent that was never opened')
    this.#nothingFromAnotherRoot(source)
    this.#nothingThatMayBeHidden(source)
    this.uploads.sending(source.path, this.stateLost || this.quota.wasRefused)
    return source.path
  }

  imageDeletion(id: string): TakeBack {
    this.effects++
    this.#nothingBegins(id)
    const image = this.#truth.images.get(id)
    if (!image) return () => {}
    const takeBack = this.#takeBack([image])
    if (image.gone) this.#judge.again(image)
    else if (this.repairs.isUnderWay) this.repairs.judge(image)
    else this.#judge.judge([image])
    return takeBack
  }

  /** Before images are asked for. A refused one is there, but an earlier request for it in doubt may still be served. */
  #takeBack(images: readonly TrueImage[]): TakeBack {
    const anew = images.filter(({ deletionAsked }) => !deletionAsked)
    return () => {
      for (const image of anew) {
        image.deletionAsked = false
        this.#judge.refused.add(image.id)
      }
    }
  }

  /** The host refuses to delete an image or an album. A retry may ask for it again. */
  deletionRefused(id: string): void {
    const album = this.#truth.album(id)
    if (!album) this.#judge.refused.add(id)
    else
      for (const image of this.#truth.live()) if (isIn(image.album, album)) this.#judge.refused.add(image.id)
  }

  /** Only an empty album goes. */
  albumDeletion(id: string): TakeBack {
    this.effects++
    this.#nothingBegins(id)
    const album = this.#truth.album(id)
    if (!album || album.gone) return () => {}
    const { mirrors } = this.#facts
    const hanging = mirrors.find(mirror => `${mirror.album}/`.startsWith(`${pathOfAlbum(album)}/`))
    if (hanging)
      this.report('nothing-needed-deleted', `${pathOfAlbum(album)}, in which ${hanging.folder} hangs`)
    for (const other of this.#truth.liveAlbums()) {
      if (!isIn(other, album)) continue
      if (other.by === 'other') this.report('nothing-foreign-deleted', `album ${pathOfAlbum(other)}`)
      else if (other !== album) this.report('nothing-needed-deleted', `${pathOfAlbum(other)} with its album`)
    }
    const inside = this.#truth.live().filter(image => isIn(image.album, album))
    const takeBack = this.#takeBack(inside)
    for (const image of inside) this.report('nothing-needed-deleted', `${image.name} with its album`)
    return takeBack
  }

  /** A pass begins, and uploads may; or (`why`) they may not. */
  passBegins(why: string | null): void {
    this.#deletedSince = null
    this.#judge.onlyAgain = false
    this.uploads.passBegins(why)
  }

  /** This pass deletes only what was asked to be deleted before. */
  retries(): void {
    this.#judge.onlyAgain = true
  }

  /** This pass sends, makes and deletes nothing. */
  adopts(): void {
    this.uploads.passBegins('a person has what is there adopted')
  }

  /** A person waits for the pass to end: what is under way comes to its end, and nothing else is begun. */
  makesWay(): void {
    this.#deletedSince ??= new Set()
    this.uploads.shut('a person waits')
  }

  #nothingBegins(id: string): void {
    if (this.#deletedSince && this.#deletedSince.add(id).size > 1)
      this.report('nothing-begins', `${id.slice(0, 6)} is deleted while a person waits`)
  }

  /** When an album's deletion is served, all that has come there meanwhile goes too. */
  goneWithAlbum(images: readonly TrueImage[]): void {
    for (const image of images)
      if (image.by === 'albumd' && !image.deletionAsked)
        this.report('nothing-needed-deleted', `${nameOf(image)} was in its album when that went`)
  }

  stored(image: TrueImage): void {
    if (image.by === 'other') return
    this.#facts.stripping.stored(image)
    this.#nothingTwice(image)
    this.#nothingHalf(image)
  }

  /** Of an album that is asked for what others made before this pass is known, however late it is made. */
  albumCreation(): number {
    return this.#facts.doubts.passAt
  }

  albumMade(album: TrueAlbum, sawUntil: number): void {
    if (album.by === 'other') return
    this.effects++
    const isBlind = this.#facts.variations.without.includes('list')
    if (isBlind && (this.stateLost || this.words.any || this.#facts.hasFaults)) return
    // With all its records an album is made again where the host does not know it; old ones must not make any.
    if (this.listRefused() && (!this.stateLost || this.words.any)) return
    for (const other of this.#truth.liveAlbums())
      if (
        other !== album &&
        (other.by === 'albumd' || (!isBlind && other.at < sawUntil)) &&
        other.parent === album.parent &&
        other.name === album.name &&
        !this.#facts.isTakenForAnother(other)
      )
        this.report('nothing-twice', `album ${pathOfAlbum(album)} was made twice`)
  }

  /** What was opened before is of the root that was. */
  #nothingFromAnotherRoot({ path, openedAt }: { path: string; openedAt: number }): void {
    const { doubts } = this.#facts
    const root = `/${path.split('/')[1]}`
    const since = doubts.otherRoot.get(root)
    if (since !== undefined && openedAt > since)
      this.report('no-deletion-in-doubt', `${path} is sent from a root that is another one`)
  }

  #nothingThatMayBeHidden(source: { path: string; openedAt: number }): void {
    const { disk, looks, doubts } = this.#facts
    const why = whatMayHide(disk, looks, doubts, source)
    if (why) this.report('nothing-hidden-sent', `${source.path} is sent while ${why}`)
  }

  #nothingTwice(image: TrueImage): void {
    const { variations } = this.#facts
    if (this.stateLost && variations.without.includes('list')) return
    for (const other of this.#truth.live()) {
      if (other === image || other.by === 'other' || other.deletionAsked || other.source !== image.source)
        continue
      if (other.hash !== image.hash || other.name !== image.name) continue
      if (this.#listedPath(other.album) !== this.#listedPath(image.album)) continue
      if (this.words.allowBoth(other, image) || this.#facts.stripping.allowBoth(other, image)) continue
      if (this.#isUnknown(other)) continue
      // It was another picture in between: its image from then is given up.
      const between = [...this.#truth.images.values()].some(
        ({ source, hash, at }) => source === image.source && hash !== image.hash && at >= other.at,
      )
      const counts = !this.#isLinked(other) && !this.#standsElsewhere(other) && !this.#isOfAnother(other)
      if (!between && counts && !this.#facts.mayBeDeleted(other.id))
        this.report('nothing-twice', `${nameOf(image)} was sent twice`)
    }
  }

  /** Of albums that the host lists under one name each picture goes into its own. */
  #listedPath(album: TrueAlbum | null): string {
    const { variations } = this.#facts
    return pathOfAlbum(album)
      .split('/')
      .map(name => listedName(name, variations))
      .join('/')
  }

  /** Nobody tells albumd that another person has put it there. */
  #isUnknown(image: TrueImage): boolean {
    const { album, bytes, misplaced } = image
    const { isTakenForAnother, variations } = this.#facts
    // Without a state of its uploads another listed size means an edit.
    const isTold = this.#facts.isToldByOthers(image)
    const looksOther =
      this.stateLost && !isTold && variations.listsAltered && looksEdited(bytes, variations.alters)
    // An edit may be taken for what is there, and then undone.
    const isUndone = this.stateLost && this.edited.has(image.source!)
    return misplaced || isTakenForAnother(album) || looksOther || isUndone
  }

  /** Where folders share an album, a picture of its bytes and name in another folder may have taken it over. */
  #standsElsewhere({ id, source, name }: TrueImage): boolean {
    const { disk, recordOf } = this.#facts
    return [...disk.paths()].some(
      path => path !== source && split(path).name === name && recordOf(path)?.image === id,
    )
  }

  /** Listed under one name, an image of these bytes may have been taken for that of another picture beside it. */
  #isOfAnother({ id, name }: TrueImage): boolean {
    const { nameFor, variations } = this.#facts
    const taken = this.stateLost ? (nameFor(id) ?? name) : name
    return taken !== name && listedName(taken, variations) === listedName(name, variations)
  }

  /** After its state was lost albumd may have taken it for another version, by its looks. */
  #isLinked({ id }: TrueImage): boolean {
    return this.stateLost && this.#facts.isLinked(id)
  }

  #nothingHalf(image: TrueImage): void {
    const { disk } = this.#facts
    if (this.halves.has(image.hash)) this.report('nothing-half', `${image.source} was sent half written`)
    else if (!disk.everHeld(image.source!, image.hash))
      this.report('nothing-half', `${image.source} never had the bytes of ${nameOf(image)}`)
  }
}
