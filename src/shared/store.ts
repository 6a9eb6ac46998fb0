import { createHash } from 'node:crypto'
import type { Reason } from '../words/reasons.ts'

/** A short Lua script, run in one step by the store's clock, because machines' clocks may be hours apart. */
export interface Script {
  lua: string
  /** SHA-1 of `lua`: the store keeps a script that it was given once, and runs it by this name. */
  digest: string
  /** What the last argument is besides when the store does not know the script, as after its start. */
  unknown: string | null
}

const NOW = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`

/** In `body`, `now` is the time of the store's clock in milliseconds. */
export function script(body: string, unknown: string | null = null): Script {
  const lua = `${NOW}${body}`
  return {
    lua,
    unknown,
    // Most commands run no script.
    get digest() {
      return createHash('sha1').update(lua).digest('hex')
    },
  }
}

/** What a script returns: numbers, texts, lists of these. nil is null, and Lua's numbers lose their fractions. */
export type Value = number | string | null | Value[]

/** Why the store can't be used. `since`: milliseconds of the monotonic clock. */
export interface Away {
  reason: Reason
  since: number
}

/** The value that a script answered, or why there is none. Without an answer the script may have run all the same. */
export type Answer = { ok: true; value: Value } | { ok: false; away: Away }

/** The store that the machines of one account share. That it is away is a value and no error: callers go on without. */
export interface Store {
  /** Runs a script on the keys of these names. Never rejects: while the store is away, or too slow, the result says so. */
  run(script: Script, names: readonly string[], args: readonly (string | number)[]): Promise<Answer>
  /** Null: the store answered last. The store is also away before its first answer. */
  away(): Away | null
  /** `ready` is called whenever a connection was made: the next script shows whether the store works. */
  onReady(ready: () => void): void
  /** What is asked is answered at once: the store is away. */
  close(): Promise<void>
}

/** What all keys of an account begin with, as a digest. Braces: a cluster keeps such keys on one node, as a script needs. */
export function keyPrefix(baseUrl: string, apiKey: string): string {
  const account = createHash('sha256').update(`albumd\0${baseUrl}\0${apiKey}`).digest('hex')
  return `albumd:{${account.slice(0, 24)}}:`
}
