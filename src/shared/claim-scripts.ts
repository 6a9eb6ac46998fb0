import { script } from './store.ts'

/*
 * What the store does for claims, in Lua. Redis runs a script as a whole, so no other machine comes in between.
 *
 * KEYS of CLAIM and LEAVE: a hash from each claimed album to its machine's id, a hash of what is known of the machines
 * ("id/name", "id/seen", "id/until", "id/process"), when the store began, and when it was found to have lost claims. An
 * album is written "/A/B/", so that one album lies in another when the other's text begins it.
 */

/** The albums of this machine, others' claims by album, and the machine that has an album, or one above or below it. */
const OWNERS = `
local function claims_of(claims, me)
  local all, mine, others = redis.call('HGETALL', claims), {}, {}
  for i = 1, #all, 2 do
    if all[i + 1] == me then mine[all[i]] = true else others[#others + 1] = { all[i], all[i + 1] } end
  end
  table.sort(others, function(one, other) return one[1] < other[1] end)
  return mine, others
end

local function is_alive(machines, owner, now)
  return tonumber(redis.call('HGET', machines, owner .. '/until') or '0') > now and 1 or 0
end

local function taken(machines, album, other, owner, now)
  if string.sub(other, 1, #album) ~= album and string.sub(album, 1, #other) ~= other then return nil end
  return {'taken', other, redis.call('HGET', machines, owner .. '/name') or '',
    redis.call('HGET', machines, owner .. '/seen') or '0', is_alive(machines, owner, now), now}
end
`

/** Changes nothing. ARGV: machine's id, albums "/A/B/". Returns as CLAIM where another machine has one, else an empty
 * list. */
export const LOOK = script(`${OWNERS}
local mine, others = claims_of(KEYS[1], ARGV[1])
for at = 2, #ARGV do
  for _, claim in ipairs(others) do
    local told = taken(KEYS[2], ARGV[at], claim[1], claim[2], now)
    if told then return told end
  end
end
return {}
`)

/** Claims albums, or renews the claims. ARGV: the machine's id, its process, its name, the lease in ms, `take` (1: the albums
 * of machines that are gone are taken over), `begin` (1: the process begins), and the albums: "h/A/B/" when the machine's
 * state says that it held the album, else "n/A/B/". Returns one of
 * - held, the milliseconds after which the lease gives leave to delete
 * - taken, the album, the name of the machine that has it, when that machine was seen, 1 if its lease is alive, and the
 *   store's time
 * - replaced: another process with this machine's id has begun
 * - new, the milliseconds to wait: the store may have lost the claims of others, who bring them back meanwhile */
export const CLAIM = script(`${OWNERS}
local claims, machines, began, lost = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local me, process, name, lease, take, begin = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5], ARGV[6]
redis.call('SET', began, now, 'NX')
local function all_are_back()
  return tonumber(redis.call('GET', began)) + lease
end
local earlier = all_are_back()

local known = redis.call('HGET', machines, me .. '/process')
if known and known ~= process and begin == '0' then return {'replaced'} end

local mine, others = claims_of(claims, me)
local gone = {}
local wanted, wait, knows = {}, 0, true
for i = 7, #ARGV do
  local album = string.sub(ARGV[i], 2)
  wanted[album] = true
  for _, claim in ipairs(others) do
    local other, owner = claim[1], claim[2]
    local told = taken(machines, album, other, owner, now)
    if told then
      if take == '0' or told[5] == 1 then return told end
      gone[other] = owner
    end
  end
  if not mine[album] then
    if string.sub(ARGV[i], 1, 1) == 'n' then wait = math.max(wait, earlier - now) else knows = false end
  end
end
if not knows then redis.call('SET', lost, now) end
if wait > 0 then return {'new', wait} end

local leave = now
for album in pairs(wanted) do
  if not mine[album] then leave = math.max(leave, earlier) end
end
if known and known ~= process then
  leave = math.max(leave, tonumber(redis.call('HGET', machines, me .. '/until') or '0'))
end
for album in pairs(gone) do redis.call('HDEL', claims, album) end
for album in pairs(mine) do
  if not wanted[album] then redis.call('HDEL', claims, album) end
end
for album in pairs(wanted) do redis.call('HSET', claims, album, me) end
redis.call('HSET', machines, me .. '/name', name, me .. '/seen', now, me .. '/until', now + lease, me .. '/process', process)
return {'held', leave - now}
`)

/** Ends a lease, and leaves the albums to the machine. ARGV: the machine's id, its process. */
export const LEAVE = script(`
local machines, me = KEYS[2], ARGV[1]
if redis.call('HGET', machines, me .. '/process') ~= ARGV[2] then return 0 end
redis.call('HSET', machines, me .. '/until', now)
return 1
`)

/** Begins the creation of an album. KEYS: the album's key, machines, and when the store lost claims. ARGV: machine's id,
 * how long the entry lasts in ms. Returns '' when this machine may create it, "=" and the host's id, or the id of the
 * machine that does; "?" while an entry may have been lost with the claims. */
export const BEGIN_ALBUM = script(`
local there = redis.call('GET', KEYS[1])
if there and there ~= ARGV[1] then return there end
local lost = redis.call('GET', KEYS[3])
if not there then
  if lost and now < tonumber(lost) + tonumber(ARGV[2]) then return '?' end
  if not redis.call('HGET', KEYS[2], ARGV[1] .. '/until') then return '?' end
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ''
`)

/** Ends it. ARGV: the machine's id, how long the outcome is kept in ms, and the host's id of the album; empty: none. */
export const END_ALBUM = script(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
if ARGV[3] == '' then redis.call('DEL', KEYS[1])
else redis.call('SET', KEYS[1], '=' .. ARGV[3], 'PX', ARGV[2]) end
return 1
`)
