import { createHash } from 'node:crypto'
import type { Reason } from '../words/reasons.ts'

/** A short Lua script. It runs in one step and by the store's clock, because the machines' clocks may be hours apart. */
export interface Script {
  lua: string
  /** SHA-1 of `lua`. The store keeps each script that it was given, and runs it by this name. */
  digest: string
  /** An argument that is added at the end when the store does not know the script, for example after its start. Null: none is. */
  unknown: string | null
}

const NOW = `local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`

/** Makes a script. In `body`, `now` is the store's time in milliseconds. */
export function script(body: string, unknown: string | null = null): Script {
  const lua = `${NOW}${body}`
  return {
    lua,
    unknown,
    // Computed only when it is needed, because most commands of albumd run no script.
    get digest() {
      return createHash('sha1').update(lua).digest('hex')
    },
  }
}

/** What a script returns: numbers, texts, and lists of these. nil becomes null, and numbers lose their fractions. */
export type Value = number | string | null | Value[]

/** Why the store can't be used. `since`: milliseconds of the monotonic clock. */
export interface Away {
  reason: Reason
  since: number
}

/** What a script returned, or why it returned nothing. Even then the script may have run. */
export type Answer = { ok: true; value: Value } | { ok: false; away: Away }

/** The store that the machines of one account share. While it is away, calls return that as a value: callers go on without it. */
export interface Store {
  /** Runs a script on the keys of these names. Never rejects: while the store is away, or too slow, the result says so. */
  run(script: Script, names: readonly string[], args: readonly (string | number)[]): Promise<Answer>
  /** Why the store is away, as before its first answer. Null: its last answer came. */
  away(): Away | null
  /** `ready`: called whenever a connection was made. Only the next script shows whether the store works. */
  onReady(ready: () => void): void
  /** Closes the connection. Questions under way are answered at once: the store is away. */
  close(): Promise<void>
}

/** The prefix of an account's keys: a digest. The braces make a cluster keep these keys on one node, as scripts need it. */
export function keyPrefix(baseUrl: string, apiKey: string): string {
  const account = createHash('sha256').update(`albumd\0${baseUrl}\0${apiKey}`).digest('hex')
  return `albumd:{${account.slice(0, 24)}}:`
}
