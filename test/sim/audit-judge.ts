import type { AuditFinding, AuditResult } from '../../src/daemon/loop/audit.ts'
import type { ImageRow } from '../../src/synced/tables/images.ts'
import type { TrueImage } from './host-truth.ts'
import type { World } from './world.ts'

/** Judges what an audit says, made before it goes on or begins. Each thing that it may say is one function. */
export class AuditJudge {
  readonly #world: World
  /** It goes on with what an earlier one began: how long ago its albums were looked at is not known here. */
  readonly #goesOn: boolean
  /** True time, and albumd's clock. */
  readonly #began: number
  readonly #beganByClock: number
  /** What was recorded when it began, and whether albumd is about to give it up. */
  readonly #recorded = new Map<string, ImageRow & { leaving: boolean }>()

  constructor(world: World) {
    this.#world = world
    const { synced } = world.state
    this.#goesOn = synced.meta.get('audit_began') !== null
    this.#began = world.time.now
    this.#beganByClock = world.machine.wall()
    for (const album of synced.audit.albums())
      for (const image of synced.images.inAlbum(album))
        this.#recorded.set(image.remote_id, { ...image, leaving: synced.audit.isLeaving(image.id) })
  }

  judge({ complete, findings }: AuditResult): void {
    // What came or went since the records were read here is nobody's mistake.
    if (this.#goesOn) return
    for (const finding of findings) {
      const image = this.#world.host.truth.images.get(finding.image_id)
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

  /** Nobody can change an image there. */
  #isChanged({ name }: AuditFinding, image: TrueImage): void {
    const row = this.#recorded.get(image.id)
    if (!row?.hash.equals(Buffer.from(image.hash, 'hex')) || row.name !== image.name) return
    if (this.#isInItsAlbum(row, image) && name === image.name) this.#report(image, 'is said to be changed')
  }

  /** What albumd sent is its own, as far as it can know. */
  #isForeign(image: TrueImage): void {
    const { oracle, host, history } = this.#world
    if (image.by === 'other' || oracle.stateLost || oracle.words.mayHaveLeft(image)) return
    // By a clock that was set it came after the one that albumd deleted.
    if (image.deletionAsked && history.actions.some(({ deed }) => deed === 'clockJump')) return
    // Of another person's image it may have learned that it was this one.
    const taken = [...host.truth.images.values()].some(
      ({ by, name, id }) => by === 'other' && name === image.name && id !== image.id,
    )
    if (!taken) this.#report(image, 'is said to be foreign')
  }

  /** It was deleted before, or another of its bytes is there. */
  #isTwice({ ours }: AuditFinding, image: TrueImage): void {
    if (!ours || image.deletionAsked || image.gone !== null) return
    const { truth } = this.#world.host
    const twins = [...truth.images.values()].filter(
      ({ id, hash, album }) => id !== image.id && hash === image.hash && album === image.album,
    )
    if (twins.length === 0) this.#report(image, 'is said to be there twice')
  }

  /** What was gone when a complete audit began is said to be gone. */
  #nothingIsMissed(findings: readonly AuditFinding[]): void {
    const said = new Set(findings.filter(({ kind }) => kind === 'gone').map(({ image_id }) => image_id))
    for (const [id, { leaving, recorded_at }] of this.#recorded) {
      const image = this.#world.host.truth.images.get(id)
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
