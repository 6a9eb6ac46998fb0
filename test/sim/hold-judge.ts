import type { MirrorPolicy } from '../../src/sync/scan/mirror-scans.ts'
import { DeletionWindow } from './deletion-window.ts'
import type { HostTruth, TrueImage } from './host-truth.ts'
import { mirrorOf, type OracleParts } from './oracle-parts.ts'

/** Counts the deletions of each mirror, as its hold must. */
export class HoldJudge {
  readonly #parts: OracleParts
  readonly #approved: ReadonlySet<string>
  readonly #truth: HostTruth
  readonly #report: (invariant: string, what: string) => void
  #window = new DeletionWindow()

  constructor(
    parts: OracleParts,
    approved: ReadonlySet<string>,
    truth: HostTruth,
    report: (invariant: string, what: string) => void,
  ) {
    this.#parts = parts
    this.#approved = approved
    this.#truth = truth
    this.#report = report
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
    const mirror = mirrorOf(this.#parts, image)
    // A person's word may have come after it was asked for once.
    for (const { id } of this.#window.images()) if (this.#approved.has(id)) this.#window.remove(id)
    if (!mirror || this.#approved.has(image.id) || this.#mayCountElsewhere(image, mirror)) return
    const live = this.#truth.live()
    // Asked for before, what can't be known to be gone may have its bytes elsewhere since.
    for (const before of this.#window.images())
      if (this.#parts.mayBeDeleted(before.id) && this.#standsElsewhere(before)) this.#window.remove(before.id)
    if (this.#standsElsewhere(image)) return
    const { hold, running } = this.#parts
    const going = this.#window.add(image, mirror, running())
    const standing = live.filter(other => mirrorOf(this.#parts, other) === mirror).length
    if (going > hold.hold_min && going > hold.hold_above * (standing + going))
      this.#report(
        'no-deletion-in-doubt',
        `${going} deletions in a day beside ${standing} images were not held`,
      )
  }

  /** Where equal bytes have one id, it counts for the mirror that stood on it last, wherever it came from. */
  #mayCountElsewhere({ hash }: TrueImage, mirror: MirrorPolicy): boolean {
    const { variations, disk, mirrors } = this.#parts
    if (!variations.oneId) return false
    const others = mirrors.filter(other => other !== mirror)
    return [...disk.paths()].some(
      path => others.some(({ folder }) => path.startsWith(`${folder}/`)) && disk.everHeld(path, hash),
    )
  }

  /** Whose bytes stand elsewhere only moved. Nobody tells albumd what another person took. */
  #standsElsewhere(image: TrueImage): boolean {
    return [...this.#truth.images.values()].some(
      other => other !== image && other.hash === image.hash && other.gone?.by !== 'albumd',
    )
  }
}
