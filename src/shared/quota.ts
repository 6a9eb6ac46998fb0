import { HOUR_MS } from '../protocol/clock.ts'
import { type Store, script } from './store.ts'

/** How long a refusal is told to machines that start. Longer than a day, because a day may be an hour longer than others. */
const TOLD_MS = 26 * HOUR_MS

/** KEYS: rate. ARGV: in how many ms there is quota again, or ''. Other machines see the refusal with their next place. */
const REFUSE = script(`
local resumes = 0
if ARGV[1] ~= '' then resumes = now + ARGV[1] end
redis.call('HSET', KEYS[1], 'refused', now, 'resumes', resumes)
redis.call('PEXPIRE', KEYS[1], 604800000)
return redis.call('HINCRBY', KEYS[1], 'refusals', 1)
`)

/** KEYS: rate. Returns how long ago the last refusal was, and in how many milliseconds there is quota again, or 0. */
const LAST = script(`
local told = redis.call('HMGET', KEYS[1], 'refused', 'resumes')
return { now - (told[1] or 0), math.max(0, (told[2] or 0) - now) }
`)

/** KEYS: rate. A machine that starts is not told the last refusal any more. */
const FORGET = script("return redis.call('HDEL', KEYS[1], 'refused', 'resumes')")

/** A refusal for the quota that another machine was answered. */
export interface Refusal {
  /** In how many milliseconds there is quota again, as the host said; null: it did not say. */
  resumesInMs: number | null
}

/** Says to the other machines that the host has refused this machine for the quota. Returns the number of this refusal. */
export async function tellRefusal(store: Store, resumesInMs: number | null): Promise<number | null> {
  const answer = await store.run(REFUSE, ['rate'], [resumesInMs === null ? '' : Math.round(resumesInMs)])
  return answer.ok ? (answer.value as number) : null
}

/** The last refusal of a machine; null where it concerns another day, or the store is away. */
export async function lastRefusal(store: Store): Promise<Refusal | null> {
  const answer = await store.run(LAST, ['rate'], [])
  if (!answer.ok) return null
  const [agoMs, resumesMs] = answer.value as [number, number]
  return agoMs > TOLD_MS ? null : { resumesInMs: resumesMs === 0 ? null : resumesMs }
}

export async function forgetRefusal(store: Store): Promise<void> {
  await store.run(FORGET, ['rate'], [])
}
