-- Keeps a document's lock, or takes it again if it was lost and nobody has it.
--
-- KEYS  1 the lock   2 the hint parked behind it
-- ARGV  1 the holder's value   2 TTL in milliseconds
-- Returns 1 when the lock is held by this value, 0 when another holds it.
--
-- A lock is lost by a restart, a failover or a pause beyond its TTL. The attempt
-- goes on either way (its lease decides that), so an empty place is simply taken.

local holder = redis.pcall('GET', KEYS[1])
if type(holder) == 'string' and holder ~= ARGV[1] then
  return 0
end

redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 1
