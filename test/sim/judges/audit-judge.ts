import type { AuditFinding, AuditResult } from '../../../src/daemon/commands/audit.ts'
import { isAltered } from '../../../src/sync/delivered/index.ts'
import type { ImageRow } from '../../../src/synced/tables/images.ts'
import { livePictures } from '../disk/live-pictures.ts'
import { versionOfHash } from '../disk/tree.ts'
import type { World } from '../engine/world.ts'
import { looksEdited } from '../host/alterations.ts'
import type { TrueImage } from '../host/host-truth.ts'
import { doubtAbout } from './doubts.ts'
import { isKnown, nameOf } from './facts.ts'
import { ImageJudge } from './judge.ts'

/** Judges what an audit says, made before it goes on or begins. Each thing that it may say is one function. */
export class AuditJudge {
  readonly #world: World
  /** It goes on with what an earlier one began: how long ago its albums were looked at is not known here. */
  readonly #goesOn: boolean
  /** True time, and albumd's clock. */
  readonly #began: number
  readonly #beganByClock: number
  /** What was recorded when it began, and whether a DELETE of it is under way. */
  readonly #recorded = new Map<string, ImageRow & { leaving: boolean }>()

  constructor(world: World) {
    this.#world = world
    const { synced } = world.state
    this.#goesOn = synced.meta.get('audit_began') !== null
    this.#began = world.time.now
    this.#beganByClock = world.machine.wall()
    for (const album of synced.audit.albums())
      for (const image of synced.images.inAlbum(album))
        this.#recorded.set(image.remote_id, {
          ...image,
          leaving: synced.journal.deletionOf(image.id) !== undefined,
        })
  }

  judge({ complete, findings }: AuditResult): void {
    // What came or went since the records were read here is nobody's mistake.
    if (this.#goesOn) return
    for (const finding of findings) {
      const image = this.#world.truth.images.get(finding.image_id)
      if (image) this.#holds(finding, image)
    }
    if (complete) this.#nothingIsMissed(findings)
  }

  #holds(finding: AuditFinding, image: TrueImage): void {
    const { kind } = finding
    if (kind === 'gone') this.#isGone(image)
    else if (kind === 'changed') this.#isChanged(finding, image)
    else if (kind === 'foreign') this.#isForeign(image)
    else this.#isTwice(finding, image)
  }

  /** It was there and listed all the time. */
  #isGone(image: TrueImage): void {
    const { variations } = this.#world.history
    const row = this.#recorded.get(image.id)
    if (variations.blinks !== null || !row || !this.#isInItsAlbum(row, image)) return
    if (image.gone === null && image.listedFrom <= this.#began) this.#report(image, 'is said to be gone')
  }

  /** An audit may take images for those of others that the host lists under names of its own. */
  #areRenamed(): boolean {
    return this.#world.history.variations.renames !== null
  }

  /** Nobody can change an image there. */
  #isChanged({ name }: AuditFinding, image: TrueImage): void {
    const row = this.#recorded.get(image.id)
    if (!row || versionOfHash(row.hash) !== image.hash || row.name !== image.name) return
    // Nothing has shown that the host alters such pictures.
    const { state, history } = this.#world
    if (history.variations.listsAltered && !isAltered(state.synced, row.mime)) return
    if (this.#isInItsAlbum(row, image) && name === image.name) this.#report(image, 'is said to be changed')
  }

  /** What albumd sent is its own, as far as it can know. */
  #isForeign(image: TrueImage): void {
    const { oracle, history, machine } = this.#world
    const { alters, listsAltered } = history.variations
    if (this.#areRenamed() || (listsAltered && looksEdited(image.bytes, alters))) return
    if (image.by === 'other' || oracle.stateLost || oracle.words.mayHaveLeft(image)) return
    // By a clock that is wrong it came after the one that albumd deleted.
    const isWrong = machine.offset !== 0 || history.actions.some(({ kind }) => kind === 'clockJump')
    if (image.deletionAsked && isWrong) return
    // Of another person's image it may have learned that it was this one.
    const taken = [...this.#world.truth.images.values()].some(
      ({ by, name, id }) => by === 'other' && name === image.name && id !== image.id,
    )
    if (!taken) this.#report(image, 'is said to be foreign')
  }

  /** It was deleted before, or another of its bytes is there. */
  #isTwice({ ours }: AuditFinding, image: TrueImage): void {
    if (!ours || image.deletionAsked || image.gone !== null) return
    const { truth } = this.#world
    const twins = [...truth.images.values()].filter(
      ({ id, hash, album }) => id !== image.id && hash === image.hash && album === image.album,
    )
    if (twins.length === 0) this.#report(image, 'is said to be there twice')
  }

  /** What was gone when a complete audit began is said to be gone. */
  #nothingIsMissed(findings: readonly AuditFinding[]): void {
    const said = new Set(findings.filter(({ kind }) => kind === 'gone').map(({ image_id }) => image_id))
    for (const [id, { leaving, recorded_at }] of this.#recorded) {
      const image = this.#world.truth.images.get(id)
      if (!image?.gone || leaving || recorded_at > this.#beganByClock || said.has(id)) continue
      if (Math.max(image.gone.at, image.shownUntil) < this.#began)
        this.#report(image, 'is gone, and not missed')
    }
  }

  #isInItsAlbum({ album }: ImageRow, image: TrueImage): boolean {
    const { albums } = this.#world.state.synced
    const recorded = album === null ? null : (albums.byId(album)?.remote_id ?? null)
    return recorded === (image.album?.id ?? null)
  }

  #report({ id, name }: TrueImage, what: string): void {
    this.#world.oracle.report('audit-tells-the-truth', `image ${id.slice(0, 6)} (${name}) ${what}`)
  }
}

/** Judges what the repair of an audit deletes, at the moment the request leaves. Each invariant is one function. */
export class RepairJudge extends ImageJudge {
  readonly #fetched = new Set<string>()
  #most: number | null = null
  readonly #deleted = new Set<string>()
  /** What was deleted since a person paused albumd; `may`: what was under way then. */
  #paused: { may: number; deleted: Set<string> } | null = null

  fetched(id: string): void {
    this.#fetched.add(id)
  }

  /** From here on a repair deletes, not a pass: at most so many. */
  begin(most: number): void {
    this.#most = most
    this.#deleted.clear()
    this.#paused = this.facts.isPaused() ? { may: 0, deleted: new Set() } : null
  }

  end(): void {
    this.#most = null
  }

  get isUnderWay(): boolean {
    return this.#most !== null
  }

  judge(image: TrueImage): void {
    this.#nothingForeign(image)
    this.#nothingThatStands(image)
    this.#nothingInDoubt(image)
    this.#nothingKept(image)
    this.#noMoreThanAllowed(image)
    this.#nothingWhilePaused(image)
    image.deletionAsked = true
  }

  /** Its id is recorded as ours, and it is: albumd sent it, or has compared its bytes, or a person said so. */
  #nothingForeign(image: TrueImage): void {
    const { disk, isOurs } = this.facts
    if (!isOurs(image.id)) this.report('nothing-foreign-deleted', `${nameOf(image)} is in no record`)
    if (image.by === 'albumd' || this.known.approved.has(image.id)) return
    const isCompared =
      this.#fetched.has(image.id) && [...disk.paths()].some(path => disk.everHeld(path, image.hash))
    if (!isCompared) this.report('nothing-foreign-deleted', `${nameOf(image)} was never looked at`)
  }

  /** What the host kept though albumd deleted it stands for nothing. */
  #nothingThatStands(image: TrueImage): void {
    const { disk, mirrors, recordOf } = this.facts
    const left = this.truth
      .live()
      .some(other => other !== image && !other.deletionAsked && other.hash === image.hash)
    for (const { path, node } of livePictures(disk, mirrors)) {
      if (node.hash !== image.hash || !isKnown(this.facts, path)) continue
      const stands = recordOf(path)?.image === image.id
      if (stands || (!left && !image.keptDeleted))
        this.report('nothing-needed-deleted', `${path} stands on ${nameOf(image)}`)
    }
  }

  #nothingInDoubt(image: TrueImage): void {
    const { disk, looks, doubts, mirrors, guardOf } = this.facts
    for (const mirror of mirrors) {
      const doubt = guardOf(mirror.folder) ?? doubtAbout(disk, looks, doubts, mirror)
      if (doubt) this.report('no-deletion-in-doubt', `${nameOf(image)} is mended away while ${doubt}`)
    }
  }

  #nothingKept(image: TrueImage): void {
    if (this.known.kept.has(image.id) && !this.known.approved.has(image.id))
      this.report('nothing-foreign-deleted', `a person has kept ${nameOf(image)}`)
  }

  #noMoreThanAllowed({ id }: TrueImage): void {
    if (this.#deleted.add(id).size > this.#most!)
      this.report('no-deletion-in-doubt', `a repair deletes ${this.#deleted.size} images unasked`)
  }

  #nothingWhilePaused(image: TrueImage): void {
    if (!this.facts.isPaused()) {
      this.#paused = null
      return
    }
    this.#paused ??= { may: 1, deleted: new Set() }
    const { may, deleted } = this.#paused
    if (deleted.add(image.id).size > may) this.report('nothing-while-paused', `${nameOf(image)} is deleted`)
  }
}
