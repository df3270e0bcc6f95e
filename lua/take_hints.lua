-- Pops hints, the most urgent list first and each list's oldest first.
--
-- KEYS  1 to 4 the hint lists: critical, high, normal, low
--       5 where a key that is no list is put aside
-- ARGV  1 how many hints at most   2 TTL of what is put aside, in milliseconds
-- Returns five arrays: the ids popped from each list, and the positions (1 to 4)
-- of the keys that were put aside.
--
-- A string where a list should be would fail every take of every worker for
-- ever. It is moved out of the way, kept for a while for whoever asks what it
-- was, and its place is free for the next ring. Popping none still looks for one.

local room = tonumber(ARGV[1])
local reply = {{}, {}, {}, {}, {}}
-- An idle worker asks once a second, and one look instead of four pops is most of what that costs.
if redis.call('EXISTS', KEYS[1], KEYS[2], KEYS[3], KEYS[4]) == 0 then
  return reply
end
for position = 1, 4 do
  local popped = redis.pcall('RPOP', KEYS[position], room)
  if type(popped) == 'table' and popped.err then
    if not string.find(popped.err, 'WRONGTYPE', 1, true) then
      return popped
    end
    redis.call('RENAME', KEYS[position], KEYS[5])
    redis.call('PEXPIRE', KEYS[5], ARGV[2])
    table.insert(reply[5], position)
  elseif popped then
    reply[position] = popped
    room = room - #popped
  end
end
return reply
