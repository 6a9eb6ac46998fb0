import type { Clock } from '../protocol/clock.ts'
import { because, inWords, type Reason } from '../words/reasons.ts'
import { BEGIN_ALBUM, CLAIM, END_ALBUM, LEAVE } from './claim-scripts.ts'
import type { Store, Value } from './store.ts'

/** How long a machine may delete that is not heard of. Its albums stay its own without end. */
export const LEASE_MS = 30_000
export const RENEW_MS = 10_000
/** By how much the lease ends earlier for its own machine, because a request takes a while and clocks run unequally. */
const MARGIN_MS = 5000
/** How often a machine asks whether another has created the album that both need, and how many times. */
const ASK_AGAIN_MS = 500
const ASKED_MOST = 60
/** How often a store is asked that is not connected yet, and how many times. */
const CONNECTING_MS = 100
const CONNECTING_MOST = 30

/** Another machine has one of the albums (`code`: LOCKED), or another process works with a copy of this machine's state
 * (STATE_COPIED). */
export class AlbumTaken extends Error {
  override name = 'AlbumTaken'
  readonly code: 'LOCKED' | 'STATE_COPIED'
  readonly reason: Reason

  constructor(code: 'LOCKED' | 'STATE_COPIED', reason: Reason) {
    super(inWords(reason))
    this.code = code
    this.reason = reason
  }
}

/** Nobody can tell now whether this machine has its albums, because the store is away. `code`: STORE_AWAY. */
export class StoreAway extends Error {
  override name = 'StoreAway'
  readonly code = 'STORE_AWAY'
}

/** What a machine was told of its claims. It tells this to a store that lost everything or was put back. */
export interface Held {
  /** The albums that it has held, and the number of each claim. */
  albums: Readonly<Record<string, number>>
  /** The highest number that it was told. */
  seen: number
}

export interface Machine {
  /** The id of the machine. A machine with a copy of its state folder has another one. */
  id: string
  name: string
  /** What this machine has been told, as its state folder keeps it. */
  held(): Held
  keepHeld(held: Held): void
}

export interface ClaimsOptions {
  store: Store
  clock: Clock
  machine: Machine
  /** The mirrors' albums, with slashes; '' is the host's root. */
  albums: readonly string[]
  /** A random id of this run of the program. It is not stored, so a copy of the state has another one. */
  process: string
  /** For how many milliseconds after it was sent a request may still arrive at the host. */
  mayArriveMs: number
  /** Called with the reason when deletions begin to wait, and with null when they go on. */
  onDoubt(why: Reason | null): void
  /** Called when the albums are another machine's. From then on nothing may be sent. */
  onLost(error: AlbumTaken): void
  /** Says what the claims wait for. */
  say(line: string, code: 'STORE_NEW' | 'STATE_COPIED'): void
}

type Answer =
  | { kind: 'held' }
  | { kind: 'new' | 'copied'; waitMs: number }
  | { kind: 'away'; why: Reason }
  | { kind: 'lost'; error: AlbumTaken }

/** "/A/B/" for the album "A/B", "/" for the host's root. */
export function albumKey(album: string): string {
  return album === '' ? '/' : `/${album.normalize()}/`
}

export function isAtOrBelow(album: string, above: readonly string[]): boolean {
  return above.some(own => albumKey(album).startsWith(albumKey(own)))
}

/** This machine's claims on the albums of its mirrors. A claim stays, also while the machine is off, until the machine gives the
 * album up or a person gives it away. A lease says that the machine lives. A machine deletes only while its lease lasts. So the
 * machine that had an album before it was given away deletes nothing there, even without the store. */
export class AlbumClaims {
  readonly #options: ClaimsOptions
  readonly #ended = new AbortController()
  #renewing: Promise<void> = Promise.resolve()
  /** Ends the pause between two renewals, when the store can be reached again. */
  #pause = new AbortController()
  /** When this machine may begin to delete, and when it asked for the lease, from which the lease counts. */
  #lease: { askedAt: { wall: number; monotonic: number }; fromMs: number } | null = null
  /** A process with this id has the lease. Until this monotonic time it may be a process that was killed, and later is a copy. */
  #copiedUntil: number | null = null

  constructor(options: ClaimsOptions) {
    this.#options = options
    options.store.onReady(() => this.#pause.abort())
  }

  /** Claims the albums, and renews the claims. Without the store, a machine that held them goes on but deletes nothing. `take`:
   * takes albums from machines that do not work now. Throws AlbumTaken and StoreAway. */
  async open(signal: AbortSignal, take = false): Promise<void> {
    const { clock, say, machine, albums } = this.#options
    let said: string | null = null
    while (!signal.aborted) {
      const answer = await this.#begin(take, signal)
      if (answer.kind === 'away' && (take || !albums.every(album => album in machine.held().albums)))
        throw new StoreAway(
          `the shared store must first tell whether another machine has the albums of this machine: ${inWords(answer.why)}`,
        )
      if (answer.kind !== 'new' && answer.kind !== 'copied') break
      const [line, code] = WAITS[answer.kind]
      if (said !== answer.kind) say(line, code)
      said = answer.kind
      await clock.sleep(answer.waitMs + 1, signal)
    }
    this.#renewing = this.#renew()
  }

  /** Makes the first claim. Waits for a connection that is being made. Throws AlbumTaken. */
  async #begin(take: boolean, signal: AbortSignal): Promise<Exclude<Answer, { kind: 'lost' }>> {
    for (let tries = 1; ; tries++) {
      const answer = await this.#claim(take)
      if (answer.kind === 'lost') throw answer.error
      if (answer.kind !== 'away' || tries === CONNECTING_MOST || signal.aborted) return answer
      await this.#options.clock.sleep(CONNECTING_MS, signal)
    }
  }

  /** Why nothing may be deleted at this moment, or null. */
  readonly doubt = (): Reason | null => {
    if (this.#lease === null) return IN_DOUBT
    const { clock } = this.#options
    const { askedAt, fromMs } = this.#lease
    // Both clocks are asked: the monotonic clock stands still while the machine sleeps, and the wall clock may be set back.
    const passed = Math.max(clock.monotonic() - askedAt.monotonic, clock.wall() - askedAt.wall)
    return passed > fromMs && passed < LEASE_MS - MARGIN_MS ? null : IN_DOUBT
  }

  readonly isOwn = (album: string): boolean => isAtOrBelow(album, this.#options.albums)

  /** See `beginAlbum` in sync/claims.ts. */
  readonly beginAlbum = async (album: string, signal: AbortSignal) => {
    const { store, clock, machine, mayArriveMs } = this.#options
    if (this.isOwn(album)) return OWN
    const asks = [machine.id, 2 * mayArriveMs, albumKey(album)]
    const name = album.slice(album.lastIndexOf('/') + 1)
    for (let asked = 0; asked < ASKED_MOST && !signal.aborted; asked++) {
      const at = clock.monotonic()
      // The entry lasts twice as long as a request may take to arrive, because the request leaves in the first half.
      const answer = await store.run(BEGIN_ALBUM, KEYS, asks)
      if (!answer.ok) return { kind: 'wait', why: because('album_of_several', { name }) } as const
      const there = String(answer.value)
      if (there.startsWith('=')) return { kind: 'made', id: there.slice(1) } as const
      if (there === '')
        return {
          kind: 'create',
          mayGo: () => clock.monotonic() - at < mayArriveMs,
          async ended(id: string | null) {
            await store.run(END_ALBUM, KEYS, [...asks, id ?? ''])
          },
        } as const
      await clock.sleep(ASK_AGAIN_MS, signal)
    }
    return { kind: 'wait', why: because('album_asked_for', { name }) } as const
  }

  /** Ends the lease, and keeps the albums. A store that is away finds out by itself half a minute later. */
  async close(): Promise<void> {
    this.#ended.abort()
    await this.#renewing
    const { store, machine, process } = this.#options
    this.#lease = null
    if (!store.away()) await store.run(LEAVE, KEYS, [machine.id, process])
  }

  async #renew(): Promise<void> {
    const { signal } = this.#ended
    const { clock, onDoubt, onLost } = this.#options
    let told: Reason | null | undefined
    for (;;) {
      const doubt = this.doubt()
      if (doubt !== told) onDoubt(doubt)
      told = doubt
      this.#pause = new AbortController()
      await clock.sleep(RENEW_MS, AbortSignal.any([signal, this.#pause.signal]))
      if (signal.aborted) return
      const answer = await this.#claim(false)
      if (answer.kind === 'lost') return onLost(answer.error)
    }
  }

  async #claim(take: boolean): Promise<Answer> {
    const { clock, albums, machine } = this.#options
    const askedAt = { wall: clock.wall(), monotonic: clock.monotonic() }
    const told = await this.#ask(take)
    if (!told.ok) return { kind: 'away', why: told.away.reason }
    const [kind, ...answer] = told.value as [string, ...Value[]]
    const waitMs = Number(answer[0])
    if (kind === 'new') return { kind, waitMs }
    if (kind === 'held') {
      // The leave to delete may begin later. The wait for it counts from when the answer came.
      const fromMs = waitMs > 0 ? clock.monotonic() - askedAt.monotonic + waitMs : -1
      this.#lease = { askedAt, fromMs }
      this.#copiedUntil = clock.monotonic()
      this.#keep(
        Number(answer[1]),
        Object.fromEntries(albums.map((album, at) => [album, Number(answer[2 + at])])),
      )
      return { kind }
    }
    this.#lease = null
    if (kind === 'copied') {
      const now = clock.monotonic()
      this.#copiedUntil ??= now + waitMs
      if (now < this.#copiedUntil) return { kind, waitMs }
      return { kind: 'lost', error: new AlbumTaken('STATE_COPIED', because('state_copied')) }
    }
    this.#keep(machine.held().seen, {})
    return { kind: 'lost', error: new AlbumTaken('LOCKED', takenBy(answer, clock.wall())) }
  }

  #keep(seen: number, albums: Held['albums']): void {
    const { machine } = this.#options
    const held = { albums, seen }
    if (JSON.stringify(machine.held()) !== JSON.stringify(held)) machine.keepHeld(held)
  }

  #ask(take: boolean): ReturnType<Store['run']> {
    const { store, machine, process, albums } = this.#options
    const held = machine.held()
    return store.run(CLAIM, KEYS, [
      machine.id,
      process,
      machine.name,
      LEASE_MS,
      Number(take),
      held.seen,
      ...albums.map(album => `${held.albums[album] ?? 0}${albumKey(album)}`),
    ])
  }
}

const KEYS = ['claims']
const WAITS = {
  new: [
    'the shared store is new or was emptied: albumd waits until other machines have told what is theirs',
    'STORE_NEW',
  ],
  copied: [
    'an albumd with this state was killed, or works elsewhere with a copy of it: albumd waits for half a minute to tell',
    'STATE_COPIED',
  ],
} as const
const IN_DOUBT = because('claim_in_doubt')
const OWN = { kind: 'create', mayGo: () => true, ended: async () => {} } as const

/** Why an album is another machine's. `wall`: this machine's clock, which may differ from the store's. */
function takenBy([key, machine, seen, works, now]: Value[], wall: number): Reason {
  const album = String(key).slice(1, -1) || '/'
  if (Number(works) === 1) return because('album_in_use', { album, machine: String(machine) })
  return because('album_taken', {
    album,
    machine: String(machine),
    seen: wall - (Number(now) - Number(seen)),
  })
}
