-- Pops hints where several spaces have some: tier after tier, in each one list after another.
--
-- KEYS  1 to 4 the default space's lists: critical, high, normal, low
--       5 to 8 the tiers' turns   9 where a key that is no list is put aside
--       10 to 13 the tiers' wake-up calls
-- ARGV  1 how many hints at most   2 TTL of what is put aside, in milliseconds
--       3 what the names of the spaces' lists begin with
-- Returns the names of keys that were put aside, then for each list that was popped an
-- array of its name and the ids.
--
-- Turns are names of lists. Whose turn it is gets an equal share of the room and goes
-- to the end, unless its list is empty. The default space joins where others wait.
-- All of it happens here at once, so nobody's turn can get lost with a worker.

local room, reply = tonumber(ARGV[1]), {{}}
local function length(key)
  local found = redis.pcall('LLEN', key)
  if type(found) == 'number' then return found end
  redis.call('RENAME', key, KEYS[9])
  redis.call('PEXPIRE', KEYS[9], ARGV[2])
  table.insert(reply[1], key)
  return 0
end
local function pop(list, count)
  local hints = redis.call('RPOP', list, count)
  table.insert(reply, {list, unpack(hints)})
  room = room - #hints
end
for tier = 1, 4 do
  local own, turns, wake = KEYS[tier], KEYS[4 + tier], KEYS[9 + tier]
  local waiting, calls, left = length(own), length(wake), length(turns)
  if left > 0 and waiting > 0 and not redis.call('LPOS', turns, own) then
    left = redis.call('LPUSH', turns, own)
  end
  while room > 0 and left > 0 do
    local share = math.max(1, math.floor(room / left))
    for _ = 1, left do
      local list = room > 0 and redis.call('RPOP', turns)
      if list and (list == own or string.sub(list, 1, #ARGV[3]) == ARGV[3]) then
        local there, count = length(list), math.min(share, room)
        if there > 0 then pop(list, count) end
        if there > count then redis.call('LPUSH', turns, list) end
      end
    end
    left = length(turns)
  end
  if left == 1 and redis.call('LINDEX', turns, 0) == own then left = redis.call('DEL', turns) - 1 end
  if left > 0 and calls == 0 then redis.call('LPUSH', wake, '1') end
  if left == 0 and calls > 0 then redis.call('DEL', wake) end
  if left == 0 and room > 0 and length(own) > 0 then pop(own, room) end
end
return reply
