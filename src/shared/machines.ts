import { DAY_MS } from '../protocol/clock.ts'
import { type Script, type Store, script } from './store.ts'

export interface Machine {
  /** The id in the machine's state folder. A machine that gets another name keeps its id. */
  id: string
  /** How many milliseconds ago the store last heard of it. */
  seenMs: number
  facts: MachineFacts
}

export interface MachineFacts {
  name: string
  /** The part of the rate that the machine uses while the store is away. Null: it has ended, and uses none. */
  share: number | null
  /** Whether the machine uses this part now, because the store did not answer lately. */
  alone: boolean
  usedToday: number
  /** The albums that the machine has, as paths on the host. */
  albums: string[]
}

/** The facts of a machine that runs another version of albumd, and does not tell them. Its name is then its id. */
const UNTOLD = { share: null, alone: false, usedToday: 0, albums: [] }

const LISTED_MS = 7 * DAY_MS

/** Notes a machine. KEYS: machines, rate. ARGV: id, facts, how long it is listed. Returns now, and of each id, last seen,
 * facts. */
const BEAT: Script = script(`
redis.call('HSET', KEYS[1], ARGV[1], now .. ' ' .. ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
local all = redis.call('HGETALL', KEYS[1])
local answer = { now }
for at = 1, #all, 2 do
  local seen, facts = string.match(all[at + 1], '^(%d+) (.*)$')
  if tonumber(seen) < now - ARGV[3] then
    redis.call('HDEL', KEYS[1], all[at])
  else
    answer[#answer + 1] = all[at]
    answer[#answer + 1] = tonumber(seen)
    answer[#answer + 1] = facts
  end
end
-- RATE finds an empty store by the missing beat.
if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('HSET', KEYS[2], 'beat', now) end
return answer
`)

/** Tells the store that this machine works. Returns the store's time and all machines. Null: the store is away. */
export async function beat(
  store: Store,
  id: string,
  facts: MachineFacts,
): Promise<{ now: number; machines: Machine[] } | null> {
  const answer = await store.run(BEAT, ['machines', 'rate'], [id, JSON.stringify(facts), LISTED_MS])
  if (!answer.ok) return null
  const [now, ...rest] = answer.value as [number, ...(string | number)[]]
  const machines: Machine[] = []
  for (let at = 0; at < rest.length; at += 3) {
    const [id, seen, facts] = rest.slice(at, at + 3) as [string, number, string]
    const told = { name: id, ...UNTOLD, ...JSON.parse(facts) }
    machines.push({ id, seenMs: Math.max(0, now - seen), facts: told })
  }
  return { now, machines: machines.sort((one, other) => one.facts.name.localeCompare(other.facts.name)) }
}
