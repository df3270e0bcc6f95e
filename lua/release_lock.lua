-- Gives a document's lock back and rings the hint that was parked behind it.
--
-- KEYS  1 the lock   2 the hint parked behind it
--       3 to 6 the hint lists: critical, high, normal, low
--       and, where the document's space takes turns with others,
--       7 to 10 the tiers' turns   11 to 14 the tiers' wake-up calls
-- ARGV  1 the holder's value
-- Returns {1 if this value held the lock, else 0;
--          the tier of the list on which the parked hint now is, or -1}.
--
-- The hint goes to the popping end: it has waited for its turn already. It is
-- rung too when nobody holds the lock any more, or it would wait for nobody.
-- A hint that cannot be read, or whose list is not a list, is dropped: callers
-- ring whatever the ledger still has for the document.

local holder = redis.pcall('GET', KEYS[1])
if type(holder) == 'string' and holder ~= ARGV[1] then
  return {0, -1}
end

local released = redis.call('DEL', KEYS[1])
if type(holder) ~= 'string' then
  released = 0
end

local parked = redis.pcall('GETDEL', KEYS[2])
if type(parked) ~= 'string' then
  return {released, -1}
end
local tier, id = string.match(parked, '^([0-3]):(.+)$')
if not tier or type(redis.pcall('RPUSH', KEYS[3 + tier], id)) ~= 'number' then
  return {released, -1}
end
if KEYS[7] then
  if not redis.pcall('LPOS', KEYS[7 + tier], KEYS[3 + tier]) then
    redis.call('LPUSH', KEYS[7 + tier], KEYS[3 + tier])
  end
  if redis.call('EXISTS', KEYS[11 + tier]) == 0 then
    redis.call('LPUSH', KEYS[11 + tier], '1')
  end
end
return {released, tonumber(tier)}
