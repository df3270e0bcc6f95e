-- Pushes hints of a space onto its list, and sees to it that the space has a turn.
--
-- KEYS  1 the space's list of a tier   2 the tier's turns   3 the tier's wake-up call
-- ARGV  1 'RPUSH' for the popping end, else 'LPUSH'         2 and on the task ids
-- Returns 1, or nil when the list is no list: whoever takes turns puts it aside.
--
-- A list stands once among the turns. One wake-up call is enough: who takes it
-- and leaves work behind puts it back.

local pushed
if ARGV[1] == 'RPUSH' then
  pushed = redis.pcall('RPUSH', KEYS[1], unpack(ARGV, 2))
else
  pushed = redis.pcall('LPUSH', KEYS[1], unpack(ARGV, 2))
end
if not redis.pcall('LPOS', KEYS[2], KEYS[1]) then
  redis.call('LPUSH', KEYS[2], KEYS[1])
end
if redis.call('EXISTS', KEYS[3]) == 0 then
  redis.call('LPUSH', KEYS[3], '1')
end
if type(pushed) == 'number' then
  return 1
end
return nil
