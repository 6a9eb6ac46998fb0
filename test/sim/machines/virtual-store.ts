import { CLAIM } from '../../../src/shared/claim-scripts.ts'
import type { Answer, Away, Script, Store, Value } from '../../../src/shared/store.ts'
import { because } from '../../../src/words/reasons.ts'
import type { Timeline } from '../engine/virtual-clock.ts'
import type { Random } from '../histories/random.ts'
import { type Dump, FakeRedis } from './fake-redis.ts'

/** What goes wrong with the store. away: for both machines. one: for one of them. slow: it does what it is asked, and answers
 * too late. deaf: slow for one of them. readOnly: it takes no writes. empty: it starts again and has lost everything. evicts:
 * it drops a key. older: when the trouble ends it starts again with what it held when the trouble began. */
export type StoreFault = 'away' | 'one' | 'slow' | 'deaf' | 'readOnly' | 'empty' | 'evicts' | 'older'

/** What goes wrong with claims. */
export const STORE_FAULTS: readonly StoreFault[] = ['away', 'one', 'slow', 'readOnly', 'empty']

/** As albumd's client: what takes longer is away. */
const ANSWER_MS = 500
/** A packet that got lost is sent again after so long at the earliest, because many before it got lost too. */
const FIN_MS = 1200
const AWAY = { ok: false, away: { reason: because('store_lost', { where: 'the store' }), since: 0 } } as const

/** The channel by which the store knows whether a machine has a connection. */
const PRESENCE = 'machines:'

/** When a machine may delete, by the store's own answers. True time. */
interface Leave {
  from: number
  until: number
  albums: readonly string[]
}

/** A process: what it has asked for when it ends never comes back to it, and when it is stopped, not before it goes on. */
type Life = { readonly dead: boolean; readonly stoppedUntil?: number }

/** The store that two machines share, with all that goes wrong on the way. */
export class VirtualStore {
  readonly #time: Timeline
  readonly #random: Random
  readonly #redis: FakeRedis
  #fault: { kind: StoreFault; machine: string } | null = null
  #endedAt = Number.NEGATIVE_INFINITY
  #older: Dump | null = null
  readonly #leaves = new Map<string, Leave[]>()
  /** Who was last given albums that it had not. */
  #given: { machine: string; albums: readonly string[] } | null = null
  /** Processes that have a connection. */
  #connected: { machine: string; life: Life }[] = []

  /** Hears that a machine was given an album that another machine has had a moment ago. */
  onDouble: (what: string) => void = () => {}

  constructor(time: Timeline, random: Random) {
    this.#time = time
    this.#random = random
    // Its clock is another one than those of the machines.
    const offset = random.below(86_400_000)
    const listeners = (channel: string) => this.#connections(channel.slice(PRESENCE.length))
    this.#redis = new FakeRedis(() => time.now + offset, listeners)
  }

  /** `machine`: for whom alone it is away. */
  begin(kind: StoreFault, machine: string): void {
    if (kind === 'empty') this.#redis.clear()
    else if (kind === 'evicts') this.#redis.evict(keys => this.#random.pick(keys))
    else if (kind === 'older') this.#older = this.#redis.dump()
    else this.#fault = { kind, machine }
    if (kind === 'empty' || kind === 'away') this.#connected = []
  }

  /** The end of a process that is cut off reaches the store a while after the store can be reached again. */
  #connections(machine: string): number {
    const isCut = this.#hits('one', machine) || this.#time.now < this.#endedAt + FIN_MS
    this.#connected = this.#connected.filter(each => !each.life.dead || (each.machine === machine && isCut))
    return this.#connected.filter(each => each.machine === machine).length
  }

  #hits(kind: StoreFault, machine: string): boolean {
    return this.#fault?.kind === kind && this.#fault.machine === machine
  }

  end(): void {
    this.#fault = null
    this.#endedAt = this.#time.now
    if (!this.#older) return
    this.#redis.start(this.#older)
    this.#older = null
    this.#connected = []
  }

  /** The store as one process of a machine sees it. */
  of(machine: string, life: Life): Store {
    // As the client: away before the first answer, and as the last answer was.
    let away: Away | null = AWAY.away
    return {
      run: async (script, names, args) => {
        const answer = await this.#run(machine, life, script, names, args)
        away = answer.ok ? null : answer.away
        return answer
      },
      away: () => away,
      onReady: () => {},
      close: async () => {},
    }
  }

  async #run(
    machine: string,
    life: Life,
    script: Script,
    names: readonly string[],
    args: readonly (string | number)[],
  ): Promise<Answer> {
    await this.#pass(life, 1 + this.#random.below(30))
    if (this.#fault?.kind === 'away' || this.#hits('one', machine)) return AWAY
    if (!this.#connected.some(each => each.life === life)) this.#connected.push({ machine, life })
    if (this.#fault?.kind === 'readOnly') return AWAY
    const value = this.#redis.run(script, names, args)
    if (script === CLAIM) this.#note(machine, args, value)
    const isSlow = this.#fault?.kind === 'slow' || this.#hits('deaf', machine)
    const asked = this.#time.now
    await this.#pass(life, isSlow ? ANSWER_MS : 1 + this.#random.below(30))
    return isSlow || this.#time.now - asked > ANSWER_MS ? AWAY : { ok: true, value }
  }

  /** Whoever is dead hears nothing any more. */
  #pass(life: Life, ms: number): Promise<void> {
    return new Promise(resolve => {
      const arrive = () => {
        const stopped = (life.stoppedUntil ?? 0) - this.#time.now
        if (stopped > 0) this.#time.after(stopped, arrive)
        else if (!life.dead) resolve()
      }
      this.#time.after(ms, arrive)
    })
  }

  #note(me: string, [, , , lease, , , ...held]: readonly (string | number)[], value: Value): void {
    const asked = held.map(String).filter(text => text !== CLAIM.unknown)
    const albumsOf = (texts: string[]) => texts.map(text => text.replace(/^\d+/, ''))
    const { now } = this.#time
    if (!Array.isArray(value)) return
    if (value[0] === 'taken') this.#newestStays(me, albumsOf(asked.filter(text => !text.startsWith('0/'))))
    if (value[0] !== 'held') return
    const leave = { from: now + Number(value[1]), until: now + Number(lease), albums: albumsOf(asked) }
    const fresh = albumsOf(asked.filter(text => text.startsWith('0/')))
    for (const [other, leaves] of this.#leaves)
      if (other !== me && leaves.some(theirs => theirs.until > leave.from && meet({ albums: fresh }, theirs)))
        this.onDouble(`${me} is given an album that ${other} has had a moment ago`)
    if (fresh.length > 0) this.#given = { machine: me, albums: fresh }
    const mine = (this.#leaves.get(me) ?? []).filter(({ until }) => until > now)
    this.#leaves.set(me, [...mine, leave])
  }

  /** Whatever the store has lost: who was given an album last and comes with its number, has it. */
  #newestStays(me: string, albums: readonly string[]): void {
    if (this.#given?.machine === me && meet({ albums }, this.#given))
      this.onDouble(`${me} loses an album that it was given last`)
  }

  /** Why a machine may not delete now, for people; or null. A copy of another is a machine too. */
  whyNotDelete(id: string): string | null {
    const { now } = this.#time
    const lives = ({ from, until }: Leave) => from <= now && now < until
    const mine = (this.#leaves.get(id) ?? []).filter(lives)
    if (mine.length === 0) return 'without a lease that gives leave to delete'
    for (const [other, leaves] of this.#leaves)
      if (other !== id && leaves.some(theirs => lives(theirs) && mine.some(own => meet(own, theirs))))
        return `while ${other} has the album too`
    return null
  }
}

function meet(one: Pick<Leave, 'albums'>, other: Pick<Leave, 'albums'>): boolean {
  return one.albums.some(mine =>
    other.albums.some(theirs => mine.startsWith(theirs) || theirs.startsWith(mine)),
  )
}
