import { script } from './store.ts'

/*
 * What the store does for claims, in Lua. Redis runs a script as a whole, so no other machine comes in between.
 *
 * All of it is in one hash, KEYS[1], so that it is lost as a whole or not at all:
 * - "/A/B/": the number and the machine's id of the claim on this album. One album lies in another when the other's text
 *   begins it. Numbers only grow, over a loss too, because a new one is at least the store's time.
 * - "number": the highest number. Each machine keeps the highest that it was told.
 * - "anew": since when the claims are made anew. Until a lease later, machines that work bring theirs back.
 * - "lost": when the store was last found to have lost something.
 * - "id/name", "id/seen", "id/until", "id/process": what is known of a machine, and of its lease.
 * - "making/A/": until when which machine creates an album, or the id that the host gave it ("=").
 */

const OWNERS = `
local function fact(name)
  return tonumber(redis.call('HGET', KEYS[1], name) or '0')
end

-- The numbers of this machine's claims by album, and the others' claims: album, number and owner.
local function claims_of(me)
  local all, mine, others = redis.call('HGETALL', KEYS[1]), {}, {}
  for at = 1, #all, 2 do
    local number, owner = string.match(all[at + 1], '^(%d+) (.+)$')
    if number and string.sub(all[at], 1, 1) == '/' then
      if owner == me then mine[all[at]] = tonumber(number)
      else others[#others + 1] = { all[at], tonumber(number), owner } end
    end
  end
  table.sort(others, function(one, other) return one[1] < other[1] end)
  return mine, others
end

local function is_alive(owner)
  return fact(owner .. '/until') > now and 1 or 0
end

-- What is told of a claim on an album, or on one above or below it. nil: the claim is on another.
local function taken(album, claim)
  local other, owner = claim[1], claim[3]
  if string.sub(other, 1, #album) ~= album and string.sub(album, 1, #other) ~= other then return nil end
  return {'taken', other, redis.call('HGET', KEYS[1], owner .. '/name') or '', fact(owner .. '/seen'), is_alive(owner), now}
end
`

/** Claims albums, or renews the claims. ARGV: the machine's id, its process, its name, the lease in ms, `take` (1: the albums
 * of machines that are gone are taken over), the highest number that it was told, and the albums: "5/A/B/" when the
 * machine's state says that it held the album by the number 5, else "0/A/B/"; then "unknown" when the store did not know
 * this script, so it was started again, perhaps with what it held long ago. Returns one of
 * - held, the milliseconds after which the lease gives leave to delete, the highest number, and that of each album
 * - taken, the album, the name of the machine that has it, when that machine was seen, 1 if its lease is alive, and the
 *   store's time
 * - copied, the milliseconds until the lease of another process with this machine's id ends
 * - new, the milliseconds to wait: the store may have lost the claims of others, who bring them back meanwhile */
export const CLAIM = script(
  `${OWNERS}
local me, process, name, lease, take, seen = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5], tonumber(ARGV[6])
local last, number = #ARGV, fact('number')
local unknown = ARGV[last] == 'unknown'
if unknown then last = last - 1 end
local function make_anew()
  redis.call('HSET', KEYS[1], 'anew', now)
  if number > 0 or seen > 0 then redis.call('HSET', KEYS[1], 'lost', now) end
  number = math.max(number, seen, 1)
  redis.call('HSET', KEYS[1], 'number', number)
end
local function was_started_again()
  return unknown
end
local function is_older(known, than)
  return known < than
end
-- A time that is to come shows that the store's clock was set back.
if number == 0 or is_older(number, seen) or was_started_again() or fact('anew') > now then make_anew() end

local known = redis.call('HGET', KEYS[1], me .. '/process')
local ends = math.min(fact(me .. '/until'), now + lease)
local function is_copied()
  return known and known ~= process and ends > now
end
if is_copied() then
  redis.call('HSET', KEYS[1], me .. '/until', ends)
  return {'copied', ends - now}
end

local mine, others = claims_of(me)
local wanted, gone, lacks, needs, is_unsure = {}, {}, false, false, false
for at = 7, last do
  local held, album = string.match(ARGV[at], '^(%d+)(/.*)$')
  held = tonumber(held)
  for _, claim in ipairs(others) do
    local told = taken(album, claim)
    if told and is_older(claim[2], held) then
      redis.call('HDEL', KEYS[1], claim[1])
      lacks = true
    elseif told and (take == '0' or told[5] == 1) then
      return told
    elseif told then
      gone[claim[1]] = true
    end
  end
  wanted[album] = math.max(held, mine[album] or 0)
  if wanted[album] == 0 then needs = true end
  -- A claim that the store alone remembers may have been given away since what the store was put back to.
  if held == 0 then is_unsure = true end
  if held > (mine[album] or 0) then
    redis.call('HSET', KEYS[1], album, held .. ' ' .. me)
    lacks = true
  end
end
if lacks then make_anew() end
-- Leases that a store gave which forgot them have ended by then.
local function all_are_back()
  return math.max(now, fact('anew') + lease)
end
local leave = all_are_back()
if is_unsure and leave > now then return {'new', leave - now} end

for album in pairs(gone) do redis.call('HDEL', KEYS[1], album) end
for album in pairs(mine) do
  if not wanted[album] then redis.call('HDEL', KEYS[1], album) end
end
if needs then number = math.max(number + 1, now) end
local answer = {'held', leave - now, number}
for at = 7, last do
  local album = string.match(ARGV[at], '^%d+(/.*)$')
  if wanted[album] == 0 then wanted[album] = number end
  redis.call('HSET', KEYS[1], album, wanted[album] .. ' ' .. me)
  answer[#answer + 1] = wanted[album]
end
redis.call('HSET', KEYS[1], 'number', number, me .. '/name', name, me .. '/seen', now, me .. '/until', now + lease,
  me .. '/process', process)
return answer
`,
  'unknown',
)

/** Ends a lease. The machine keeps its albums. ARGV: the machine's id, its process. */
export const LEAVE = script(`
local me = ARGV[1]
if redis.call('HGET', KEYS[1], me .. '/process') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], me .. '/until', now)
return 1
`)

/** Begins the creation of an album. ARGV: the machine's id, how long the entry lasts in ms, the album. Returns '' when this
 * machine may create the album, "=" and the host's id when it is created, or the id of the machine that creates it. Returns "?"
 * while an entry may have been lost. */
export const BEGIN_ALBUM = script(`
local me, lasts, field = ARGV[1], tonumber(ARGV[2]), 'making' .. ARGV[3]
local ends, there = string.match(redis.call('HGET', KEYS[1], field) or '', '^(%d+) (.*)$')
if ends and tonumber(ends) <= now then there = nil end
if there and there ~= me then return there end
if not there then
  local lost = redis.call('HGET', KEYS[1], 'lost')
  if lost and now < lost + lasts then return '?' end
  if not redis.call('HGET', KEYS[1], me .. '/until') then return '?' end
end
redis.call('HSET', KEYS[1], field, (now + lasts) .. ' ' .. me)
return ''
`)

/** Ends the creation. ARGV: the machine's id, how long the outcome is kept in ms, the album, and the host's id of it, or ''. */
export const END_ALBUM = script(`
local field = 'making' .. ARGV[3]
local ends, there = string.match(redis.call('HGET', KEYS[1], field) or '', '^(%d+) (.*)$')
if there ~= ARGV[1] or tonumber(ends) <= now then return 0 end
if ARGV[4] == '' then redis.call('HDEL', KEYS[1], field)
else redis.call('HSET', KEYS[1], field, (now + ARGV[2]) .. ' =' .. ARGV[4]) end
return 1
`)
