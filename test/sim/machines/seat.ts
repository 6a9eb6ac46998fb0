import { AlbumClaims, AlbumTaken, type Held, isAtOrBelow, StoreAway } from '../../../src/shared/claims.ts'
import { mayArriveFor } from '../../../src/sync/clock.ts'
import { drive } from '../engine/passes.ts'
import type { Life, Timeline } from '../engine/virtual-clock.ts'
import { quiet } from '../engine/virtual-clock.ts'
import type { World } from '../engine/world.ts'
import { LIFETIME_MS } from '../histories/variations.ts'
import { type Actor, pathOfAlbum, type TrueAlbum, type TrueImage, TruthOf } from '../host/host-truth.ts'
import type { VirtualHost } from '../host/virtual-host.ts'
import type { Watch } from '../judges/facts.ts'
import type { VirtualStore } from './virtual-store.ts'

/** What two machines have in common. */
export interface Common {
  time: Timeline
  host: VirtualHost
  store: VirtualStore
  /** The store takes both for one machine. */
  isCopy: boolean
  /** Whether an invariant does not hold. */
  isOver(): boolean
}

/** One machine's place beside another, with the same account and the same store. */
export class Seat {
  readonly me: Actor
  readonly #id: string
  readonly #common: Common
  #world!: World
  #truth!: TruthOf
  /** The albums that it has held, as its state folder keeps them. */
  #held: Held = { albums: {}, seen: 0 }
  #processes = 0
  claims: AlbumClaims | null = null
  /** The store has told that another machine has its album. */
  isOut = false
  /** A person says that the other machine is gone for good. */
  takes = false

  /** `id`: what the store knows the machine by. */
  constructor(me: Actor, common: Common, id: string) {
    this.me = me
    this.#id = id
    this.#common = common
  }

  get time(): Timeline {
    return this.#common.time
  }

  get host(): VirtualHost {
    return this.#common.host
  }

  /** Takes its machine in. Answers the truth as the machine sees it. */
  sit(world: World): TruthOf {
    const { host } = this.#common
    this.#world = world
    this.#truth = new TruthOf(host.truth, this.me)
    host.events.push({
      stored: image => world.oracle.stored(this.#truth.image(image)),
      albumMade: (album, sawUntil) => {
        world.oracle.albumMade(this.#truth.album(album.id)!, sawUntil)
        if (album.by === this.me) this.#nothingTwice(album)
      },
      goneWithAlbum: images => world.oracle.goneWithAlbum(images.map(image => this.#truth.image(image))),
    })
    return this.#truth
  }

  async rest(end: number): Promise<void> {
    const { time } = this.#common
    // Thousands of renewals show nothing more.
    if (end - time.now > LONG_MS) this.#world.endProcess()
    time.after(end - time.now, () => {})
    while (time.now < end && !this.#common.isOver()) {
      await quiet()
      if (time.now < end) await time.turn()
    }
  }

  /** A process claims its albums before it does anything. False: it ends instead. */
  async open(life: Life): Promise<boolean> {
    const world = this.#world
    const claims = this.#claimsOf(life)
    const opened = async () => {
      try {
        await claims.open(NEVER, this.takes)
        return null
      } catch (error) {
        return error
      }
    }
    const error = await drive(opened(), life, world.time, world.oracle)
    this.isOut = error instanceof AlbumTaken
    if (this.isOut) this.#noCopies(error as AlbumTaken)
    this.takes &&= error !== null
    if (error !== null && !this.isOut && !(error instanceof StoreAway)) throw error
    world.log?.push(error === null ? '  it has its albums' : `  it ends: ${(error as Error).message}`)
    return error === null && !life.dead
  }

  /** The claims of a process that has begun. */
  begin(life: Life): void {
    this.claims = this.#claimsOf(life)
  }

  #claimsOf(life: Life): AlbumClaims {
    if (this.claims && this.#claimed === life) return this.claims
    this.#claimed = life
    const world = this.#world
    this.claims = new AlbumClaims({
      store: this.#common.store.of(this.me, life),
      clock: life.clock,
      machine: {
        id: this.#id,
        name: this.me,
        held: () => this.#held,
        keepHeld: held => {
          this.#held = held
        },
      },
      albums: world.mirrors.map(({ album }) => album),
      process: `${this.me} ${this.#processes++}`,
      mayArriveMs: mayArriveFor(LIFETIME_MS),
      onDoubt() {},
      onLost: error => {
        if (life.dead) return
        this.#noCopies(error)
        this.isOut = true
        if (world.passes.isUnderWay) world.passes.end(0)
        else world.endProcess()
      },
      say() {},
    })
    return this.claims
  }
  #claimed: Life | null = null

  /** The oracle, which is asked about the other machine too before a request leaves. */
  watched(oracle: Watch): Watch {
    const watch: Watch = Object.create(oracle)
    return Object.assign(watch, {
      quota: oracle.quota,
      credential: (name: string) => oracle.credential(name),
      sending: (picture: Parameters<Watch['sending']>[0]) => oracle.sending(picture),
      credentialTooOld: (path: string, mayBeKnown: boolean) => oracle.credentialTooOld(path, mayBeKnown),
      fetched: (id: string) => oracle.fetched(id),
      albumCreation: () => oracle.albumCreation(),
      deletionRefused: (id: string) => oracle.deletionRefused(id),
      imageDeletion: (id: string) => {
        const image = this.#common.host.truth.images.get(id)
        if (image?.gone === null) this.#deletes([image])
        return oracle.imageDeletion(id)
      },
      albumDeletion: (id: string) => {
        const { truth } = this.#common.host
        const album = truth.album(id)
        if (album && !album.gone) this.#deletes(truth.live().filter(image => image.album === album))
        return oracle.albumDeletion(id)
      },
    })
  }

  /** Only the second machine may be a copy of the other. */
  #noCopies({ code, message }: AlbumTaken): void {
    const isCopy = this.#common.isCopy
    if (code === 'STATE_COPIED' && !isCopy) this.#world.oracle.report('one-owner', message)
  }

  #deletes(images: readonly TrueImage[]): void {
    const { oracle, mirrors } = this.#world
    const why = this.#common.store.whyNotDelete(this.me)
    if (why) oracle.report('one-owner', `${this.me} deletes ${why}`)
    const own = mirrors.map(({ album }) => album)
    for (const { by, album, name } of images)
      if (by !== this.me && by !== 'other' && !isAtOrBelow(pathOfAlbum(album), own))
        oracle.report(
          'nothing-of-another-machine',
          `${this.me} deletes ${pathOfAlbum(album)}/${name} of ${by}`,
        )
  }

  #nothingTwice(album: TrueAlbum): void {
    const { faults, truth } = this.#common.host
    if (faults.listRefused) return
    for (const other of truth.liveAlbums())
      if (
        other !== album &&
        other.by !== 'other' &&
        other.parent === album.parent &&
        other.name === album.name
      )
        this.#world.oracle.report('nothing-twice', `two machines made the album ${pathOfAlbum(album)}`)
  }
}

const LONG_MS = 3_600_000
const NEVER = new AbortController().signal
