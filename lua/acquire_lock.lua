-- Takes a document's lock, or parks the hint behind its holder.
--
-- KEYS  1 the lock   2 the hint parked behind it
-- ARGV  1 the holder's value, unique to this hold   2 TTL in milliseconds
--       3 the hint's tier (0 is the most urgent)    4 the hint's task id
-- Returns 1 when the lock is held by this value, 0 when another holds it.
--
-- Asking again with the same value says 1: the reply to the first call was lost.
-- Of several refused hints the most urgent stays parked; one is enough, for any
-- hint leads to the head of the document's lane. It outlives the lock, because
-- whoever ends the hold must find it. A key that is no string is nobody's lock.

if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return 1
end

local holder = redis.pcall('GET', KEYS[1])
if holder == ARGV[1] or type(holder) == 'table' then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
  return 1
end

local hint = ARGV[3] .. ':' .. ARGV[4]
local parked = redis.pcall('GET', KEYS[2])
if type(parked) == 'string' then
  local tier = tonumber(string.match(parked, '^([0-3]):'))
  if tier and tier <= tonumber(ARGV[3]) then
    hint = parked
  end
end
local ttl = math.max(tonumber(ARGV[2]), redis.call('PTTL', KEYS[1]))
redis.call('SET', KEYS[2], hint, 'PX', ttl)
return 0
