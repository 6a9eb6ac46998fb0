import { doubtAbout } from './grounds.ts'
import type { HostTruth, TrueImage } from './host-truth.ts'
import { livePictures } from './live-pictures.ts'
import { isKnown, nameOf, type OracleParts } from './oracle-parts.ts'

interface Known {
  readonly approved: ReadonlySet<string>
  readonly kept: ReadonlyMap<string, number>
}

/** Judges what the repair of an audit deletes, at the moment the request leaves. Each invariant is one function. */
export class RepairJudge {
  readonly #parts: OracleParts
  readonly #known: Known
  readonly #truth: HostTruth
  readonly #fetched = new Set<string>()
  readonly #report: (invariant: string, what: string) => void
  #most: number | null = null
  readonly #deleted = new Set<string>()
  /** What was deleted since a person paused albumd; `may`: what was under way then. */
  #paused: { may: number; deleted: Set<string> } | null = null

  constructor(
    parts: OracleParts,
    known: Known,
    truth: HostTruth,
    report: (invariant: string, what: string) => void,
  ) {
    this.#parts = parts
    this.#known = known
    this.#truth = truth
    this.#report = report
  }

  fetched(id: string): void {
    this.#fetched.add(id)
  }

  /** From here on a repair deletes, not a pass: at most so many. */
  begin(most: number): void {
    this.#most = most
    this.#deleted.clear()
    this.#paused = this.#parts.isPaused() ? { may: 0, deleted: new Set() } : null
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
    const { disk, isOurs } = this.#parts
    if (!isOurs(image.id)) this.#report('nothing-foreign-deleted', `${nameOf(image)} is in no record`)
    if (image.by === 'albumd' || this.#known.approved.has(image.id)) return
    const isCompared =
      this.#fetched.has(image.id) && [...disk.paths()].some(path => disk.everHeld(path, image.hash))
    if (!isCompared) this.#report('nothing-foreign-deleted', `${nameOf(image)} was never looked at`)
  }

  /** What the host kept though albumd deleted it stands for nothing. */
  #nothingThatStands(image: TrueImage): void {
    const { disk, mirrors, recordOf } = this.#parts
    const left = this.#truth
      .live()
      .some(other => other !== image && !other.deletionAsked && other.hash === image.hash)
    for (const { path, node } of livePictures(disk, mirrors)) {
      if (node.hash !== image.hash || !isKnown(this.#parts, path)) continue
      const stands = recordOf(path)?.image === image.id
      if (stands || (!left && !image.keptDeleted))
        this.#report('nothing-needed-deleted', `${path} stands on ${nameOf(image)}`)
    }
  }

  #nothingInDoubt(image: TrueImage): void {
    const { disk, looks, grounds, mirrors, guardOf } = this.#parts
    for (const mirror of mirrors) {
      const doubt = guardOf(mirror.folder) ?? doubtAbout(disk, looks, grounds, mirror)
      if (doubt) this.#report('no-deletion-in-doubt', `${nameOf(image)} is mended away while ${doubt}`)
    }
  }

  #nothingKept(image: TrueImage): void {
    if (this.#known.kept.has(image.id) && !this.#known.approved.has(image.id))
      this.#report('nothing-foreign-deleted', `a person has kept ${nameOf(image)}`)
  }

  #noMoreThanAllowed({ id }: TrueImage): void {
    if (this.#deleted.add(id).size > this.#most!)
      this.#report('no-deletion-in-doubt', `a repair deletes ${this.#deleted.size} images unasked`)
  }

  #nothingWhilePaused(image: TrueImage): void {
    if (!this.#parts.isPaused()) {
      this.#paused = null
      return
    }
    this.#paused ??= { may: 1, deleted: new Set() }
    const { may, deleted } = this.#paused
    if (deleted.add(image.id).size > may) this.#report('nothing-while-paused', `${nameOf(image)} is deleted`)
  }
}
