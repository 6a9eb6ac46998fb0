import { type Script, script } from './store.ts'

/** A second of §8, and two milliseconds more, because the clocks of host and store run at slightly different speeds. */
const SECOND_MS = 1002
/** How long after the time of its place a request may leave. Most need a moment, and at most ten seconds to connect. */
export const LEAVES_MS = 10_500
/** After so long the store forgets a place of which it hears nothing. A late request counts for a second after it left, even when
 * its machine is stopped then (SIGSTOP). */
export const OPEN_MS = LEAVES_MS + 2000

/** One step of an endpoint's shared rate window: takes reports, and hands out the next place.
 *
 * `places` holds the latest time at which each request can have arrived. `pending` holds places that were handed out and
 * whose request has not left yet; such a request can arrive at any time, so its place counts until it is reported, until
 * its machine is dead, or for `OPEN_MS`. `line` holds the machines that wait for a place, in the order in which they asked,
 * and `polls` when each of them asked last. A machine has one place in the line, so machines that wait get the same number
 * of places.
 *
 * KEYS: places, pending, line, polls, facts of the endpoint; rate, machines of the account.
 * ARGV: machine, id of the place that is asked for or '', limit, limit that the host has taught or '', back (1: the
 * machine could not reach the store before), refused (the wait in ms after a RATE_LIMITED, or ''); then for each report
 * an id and the latest arrival, or '' for a place that is given back.
 * Answers: now, 1 where the place was handed out, its time or when to ask again, the limit that holds, and how often the host
 * has refused a machine for the quota. */
export const RATE: Script = script(`
local SECOND, HORIZON, OPEN, PAUSE = ${SECOND_MS}, 300, ${OPEN_MS}, 2100
local SILENT, GONE, STALE, KEPT, DAY = 2500, 8000, 1000, 3600000, 86400000
local places, pending, line, polls, facts, rate, machines = unpack(KEYS)
local machine, id, limit, taught, back, refused = unpack(ARGV)
limit = tonumber(limit)

local function fact(key, name)
  return tonumber(redis.call('HGET', key, name) or 0)
end

-- An empty store, or one that was away for all, does not know what was sent in the last second. All machines are back
-- within a second, and bring what they have sent.
local function was_away(beat)
  return beat == 0 or (back == '1' and now - beat > 1500)
end
if was_away(fact(rate, 'beat')) then redis.call('HSET', rate, 'floor', now + PAUSE) end
redis.call('HSET', rate, 'beat', now)
-- The store's clock was set back.
if redis.call('ZREMRANGEBYSCORE', places, now + 60000, '+inf') > 0 or fact(rate, 'floor') > now + 60000 then
  redis.call('HSET', rate, 'floor', now + PAUSE)
end

for at = 7, #ARGV, 2 do
  redis.call('ZREM', pending, ARGV[at] .. ' ' .. machine)
  -- The answer shows that a request arrived sooner than its departure did. This holds whichever report comes first.
  if ARGV[at + 1] ~= '' then redis.call('ZADD', places, 'LT', ARGV[at + 1], ARGV[at]) end
end
redis.call('ZREMRANGEBYSCORE', places, '-inf', now - SECOND)
redis.call('ZREMRANGEBYSCORE', pending, '-inf', now - OPEN)
redis.call('ZREMRANGEBYSCORE', pending, now + 60000, '+inf')

-- What the host says holds for all.
if taught ~= '' then redis.call('HSET', facts, 'limit', taught) end
local told = fact(facts, 'limit')
if told > 0 and told < limit then limit = told end
if refused ~= '' then redis.call('HSET', facts, 'refused', now, 'floor', now + refused) end
local calm = now - fact(facts, 'refused')

-- A machine that can't reach the store uses its part of the rate without the store, and the others leave this part to the
-- machine. Whether a silent machine works is told by its connection, which ends with the process. A machine whose connection
-- is open is cut off. A machine without a connection is dead: what it sent last counts for two seconds more, and no request
-- takes its places any more. When the host refuses requests although all others keep to the rate, machines that were seen
-- within a day count as cut off.
local function is_connected(id)
  return (redis.pcall('PUBSUB', 'NUMSUB', machines .. ':' .. id)[2] or 0) > 0
end
local function just_gone(gone)
  return now - fact(facts, gone) < PAUSE
end
local held, dead, all = 0, {}, redis.call('HGETALL', machines)
local since = now - GONE
if calm >= 0 and calm < KEPT then since = now - DAY end
for at = 1, #all, 2 do
  local seen, share = string.match(all[at + 1], '^(%d+) .*"share":([%d.]+)')
  if seen and all[at] ~= machine then
    local works, gone = string.match(all[at + 1], '"alone":true'), 'gone ' .. all[at]
    local isSilent = tonumber(seen) < now - SILENT
    if isSilent and not is_connected(all[at]) then
      if fact(facts, gone) < tonumber(seen) then redis.call('HSET', facts, gone, now) end
      works = tonumber(seen) > since or just_gone(gone)
      dead[all[at]] = not works
    else
      redis.call('HDEL', facts, gone)
      works = works or isSilent
    end
    if works then held = held + math.max(1, math.floor(limit * share)) end
  end
end
for _, open in ipairs(redis.call('ZRANGE', pending, 0, -1)) do
  if dead[string.match(open, ' (.*)$')] then redis.call('ZREM', pending, open) end
end
local free = math.max(1, limit - held)
local function under_way()
  return redis.call('ZCARD', pending)
end

local granted, answer = 0, 0
if id ~= '' then
  redis.call('ZADD', line, 'NX', now, machine)
  redis.call('HSET', polls, machine, now)
  local before = 0
  for _, each in ipairs(redis.call('ZRANGE', line, 0, -1)) do
    if each == machine then break end
    local poll = fact(polls, each)
    if poll < now - STALE or poll > now then
      redis.call('ZREM', line, each)
      redis.call('HDEL', polls, each)
    else
      before = before + 1
    end
  end
  -- So many of the latest places leave one free for this machine, after those before it in the line.
  local counted = free - under_way() - before
  local at = math.max(now, fact(rate, 'floor'), fact(facts, 'floor'))
  if counted > 0 then
    local last = redis.call('ZRANGE', places, -counted, -counted, 'WITHSCORES')
    if last[2] then at = math.max(at, last[2] + SECOND) end
  end
  if counted > 0 and at - now <= HORIZON then
    granted, answer = 1, at
    redis.call('ZADD', pending, at, id .. ' ' .. machine)
    redis.call('ZREM', line, machine)
    redis.call('HDEL', polls, machine)
  else
    -- The places before this one may become free sooner than they do by now.
    local wait = counted > 0 and at - now - HORIZON or 20
    answer = math.min(200, math.max(5, wait))
  end
end
for _, key in ipairs(KEYS) do
  if key ~= machines then redis.call('PEXPIRE', key, key == rate and 604800000 or KEPT) end
end
return { now, granted, math.ceil(answer), limit, fact(rate, 'refusals') }
`)
