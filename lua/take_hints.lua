-- Pops hints, the most urgent list first and each list's oldest first.
--
-- KEYS  1 to 4 the hint lists: critical, high, normal, low
--       5 to 8 the tiers' turns   9 where a key that is no list is put aside
-- ARGV  1 how many hints at most   2 TTL of what is put aside, in milliseconds
-- Returns five arrays: the ids popped from each list, and the positions (1 to 4)
-- of the keys that were put aside; and 1 when other spaces have turns, else 0.
--
-- Where other spaces have turns it pops nothing: that is for take_turns.lua. Nearly
-- nobody has other spaces, and then this is all that a take costs.
--
-- A string where a list should be would fail every take of every worker for
-- ever. It is moved out of the way, kept for a while for whoever asks what it
-- was, and its place is free for the next ring. Popping none still looks for one.

local room = tonumber(ARGV[1])
local reply = {{}, {}, {}, {}, {}, 0}
-- An idle worker asks once a second, and one look instead of four pops is most of what that costs.
if redis.call('EXISTS', KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6], KEYS[7], KEYS[8]) == 0 then
  return reply
end
if redis.call('EXISTS', KEYS[5], KEYS[6], KEYS[7], KEYS[8]) > 0 then
  reply[6] = 1
  return reply
end
for position = 1, 4 do
  local popped = redis.pcall('RPOP', KEYS[position], room)
  if type(popped) == 'table' and popped.err then
    if not string.find(popped.err, 'WRONGTYPE', 1, true) then
      return popped
    end
    redis.call('RENAME', KEYS[position], KEYS[9])
    redis.call('PEXPIRE', KEYS[9], ARGV[2])
    table.insert(reply[5], position)
  elseif popped then
    reply[position] = popped
    room = room - #popped
  end
end
return reply
