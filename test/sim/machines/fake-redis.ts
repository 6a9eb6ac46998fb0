import type { Script, Value } from '../../../src/shared/store.ts'
import { Lua, type Reply } from './lua.ts'

type Kept = string | Map<string, string>

/** What a store holds, and when each key of it ends. */
export interface Dump {
  keys: Map<string, Kept>
  ends: Map<string, number>
}

/** As much of Redis, in memory, as the scripts of src/shared use. */
export class FakeRedis {
  readonly #now: () => number
  readonly #lua = new Lua((command, args) => this.#call(command, args))
  #keys = new Map<string, Kept>()
  #ends = new Map<string, number>()
  /** The digests of the scripts that it was given since it was started. */
  readonly #scripts = new Set<string>()

  readonly #listeners: (channel: string) => number

  /** `now`: milliseconds of the store's clock. `listeners`: how many connections hear a channel. */
  constructor(now: () => number, listeners: (channel: string) => number = () => 0) {
    this.#now = now
    this.#listeners = listeners
  }

  /** With what the client adds where the store does not know the script. */
  run(script: Script, keys: readonly string[], args: readonly (string | number)[]): Value {
    const isKnown = this.#scripts.has(script.digest)
    this.#scripts.add(script.digest)
    return this.#lua.run(script, keys, isKnown || script.unknown === null ? args : [...args, script.unknown])
  }

  /** As a restart does that loses everything. */
  clear(): void {
    this.start({ keys: new Map(), ends: new Map() })
  }

  /** What it holds, as a copy. */
  dump(): Dump {
    return structuredClone({ keys: this.#keys, ends: this.#ends })
  }

  /** As a restart does with what a copy holds. */
  start({ keys, ends }: Dump): void {
    this.#scripts.clear()
    this.#keys = structuredClone(keys)
    this.#ends = structuredClone(ends)
  }

  /** As a store does that has no memory left: it drops a key. */
  evict(pick: (keys: string[]) => string): void {
    if (this.#keys.size > 0) this.#forget(pick([...this.#keys.keys()]))
  }

  #call(command: string, args: string[]): Reply {
    const act = this.#commands[command]
    if (!act) throw new Error(`the fake store does not know ${command}`)
    for (const [key, end] of this.#ends) if (end <= this.#now()) this.#forget(key)
    return act(args[0]!, ...args.slice(1))
  }

  #forget(key: string): boolean {
    this.#ends.delete(key)
    return this.#keys.delete(key)
  }

  #text(key: string): string | undefined {
    const kept = this.#keys.get(key)
    if (kept instanceof Map) throw new Error(`WRONGTYPE ${key}`)
    return kept
  }

  #hash(key: string): Map<string, string> {
    const kept = this.#keys.get(key) ?? new Map<string, string>()
    if (!(kept instanceof Map)) throw new Error(`WRONGTYPE ${key}`)
    return kept
  }

  /** The members of a sorted set in their order. */
  #members(key: string): [string, number][] {
    const all = [...this.#hash(key)].map(([member, score]): [string, number] => [member, Number(score)])
    return all.sort(([a, one], [b, other]) => one - other || (a < b ? -1 : 1))
  }

  #put(key: string, hash: Map<string, string>): void {
    if (hash.size > 0) this.#keys.set(key, hash)
    else this.#forget(key)
  }

  readonly #commands: Readonly<Record<string, (key: string, ...rest: string[]) => Reply>> = {
    TIME: () => [String(Math.floor(this.#now() / 1000)), String(Math.floor((this.#now() % 1000) * 1000))],
    PUBSUB: (_numsub, channel) => [channel!, this.#listeners(channel!)],
    GET: key => this.#text(key) ?? false,
    EXISTS: key => (this.#keys.has(key) ? 1 : 0),
    SET: (key, value, ...options) => {
      const has = (name: string) => options.some(option => option.toUpperCase() === name)
      if (has('NX') && this.#keys.has(key)) return false
      this.#forget(key)
      this.#keys.set(key, value!)
      const ms = options[options.findIndex(option => option.toUpperCase() === 'PX') + 1]
      if (has('PX')) this.#ends.set(key, this.#now() + Number(ms))
      return { ok: 'OK' }
    },
    DEL: (...keys) => keys.filter(key => this.#forget(key)).length,
    PEXPIRE: (key, ms) => {
      if (this.#keys.has(key)) this.#ends.set(key, this.#now() + Number(ms))
      return this.#keys.has(key) ? 1 : 0
    },
    EXPIRE: (key, seconds) => this.#call('PEXPIRE', [key, String(Number(seconds) * 1000)]),
    INCR: key => this.#call('INCRBY', [key, '1']),
    INCRBY: (key, by) => {
      const value = Number(this.#text(key) ?? 0) + Number(by)
      this.#keys.set(key, String(value))
      return value
    },
    HGET: (key, field) => this.#hash(key).get(field!) ?? false,
    HMGET: (key, ...fields) => fields.map(field => this.#hash(key).get(field) ?? null),
    HGETALL: key => [...this.#hash(key)].flat(),
    HSET: (key, ...pairs) => {
      const hash = this.#hash(key)
      for (let at = 0; at < pairs.length; at += 2) hash.set(pairs[at]!, pairs[at + 1]!)
      this.#put(key, hash)
      return pairs.length / 2
    },
    HINCRBY: (key, field, by) => {
      const value = Number(this.#hash(key).get(field!) ?? 0) + Number(by)
      this.#call('HSET', [key, field!, String(value)])
      return value
    },
    HDEL: (key, ...fields) => {
      const hash = this.#hash(key)
      const gone = fields.filter(field => hash.delete(field)).length
      this.#put(key, hash)
      return gone
    },
    ZADD: (key, ...options) => {
      const [score, member] = options.slice(-2)
      const set = this.#hash(key)
      const [condition, before] = [options.length > 2 && options[0], set.get(member!)]
      const isNew = before === undefined
      if (isNew || !condition || (condition === 'LT' && Number(score) < Number(before)))
        set.set(member!, score!)
      this.#put(key, set)
      return isNew ? 1 : 0
    },
    ZREM: (key, ...members) => this.#call('HDEL', [key, ...members]),
    ZSCORE: (key, member) => this.#hash(key).get(member!) ?? false,
    ZCARD: key => this.#hash(key).size,
    ZCOUNT: (key, least, most) =>
      this.#members(key).filter(([, score]) => isWithin(score, least!, most!)).length,
    ZREMRANGEBYSCORE: (key, least, most) => {
      const gone = this.#members(key).filter(([, score]) => isWithin(score, least!, most!))
      return this.#call('HDEL', [key, ...gone.map(([member]) => member)])
    },
    ZRANGE: (key, from, to, ...options) => {
      const all = this.#members(key)
      const [start, end] = [from, to].map(at => Number(at) + (Number(at) < 0 ? all.length : 0))
      const shown = all.slice(Math.max(0, start!), Math.max(0, end! + 1))
      const scores = options.some(option => option.toUpperCase() === 'WITHSCORES')
      return shown.flatMap(([member, score]) => (scores ? [member, String(score)] : [member]))
    },
  }
}

/** Bounds as Redis writes them: "-inf", "5", "(5" without the 5. */
function isWithin(score: number, least: string, most: string): boolean {
  const [from, to] = [least, most].map(bound => Number(bound.replace('(', '').replace('inf', 'Infinity')))
  return (
    (least.startsWith('(') ? score > from! : score >= from!) &&
    (most.startsWith('(') ? score < to! : score <= to!)
  )
}
