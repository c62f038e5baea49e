--- Random numbers that are the same on all systems.
--
-- `math.random` may change between releases of Lua, but a sample database must always be the same.
-- Therefore this is a separate small generator, SplitMix64, which only needs 64-bit integers.
local random = {}

local Generator = {}
Generator.__index = Generator

--- Creates a generator. The same seed produces the same numbers.
-- @tparam integer seed any integer
-- @treturn Generator
function random.new(seed)
  return setmetatable({ state = seed }, Generator)
end

--- Returns the next 64 random bits. The algorithm relies on the wraparound of integer arithmetic in Lua.
function Generator:bits()
  self.state = self.state + 0x9E3779B97F4A7C15
  local z = self.state
  z = (z ~ (z >> 30)) * 0xBF58476D1CE4E5B9
  z = (z ~ (z >> 27)) * 0x94D049BB133111EB
  return z ~ (z >> 31)
end

--- Returns an integer from `low` to `high`, inclusive, with equal probabilities.
function Generator:between(low, high)
  return low + (self:bits() >> 1) % (high - low + 1)
end

--- Returns an integer from `low` to `high`, most likely near the middle, like the lengths of songs.
function Generator:around(low, high)
  return (self:between(low, high) + self:between(low, high) + self:between(low, high)) // 3
end

--- Returns an integer from 1 to `count`, most likely a small one: a few hits, and many tracks that hardly anyone buys.
function Generator:favouring_first(count)
  return math.min(self:between(1, count), self:between(1, count))
end

--- Returns true in `percent` percent of cases.
function Generator:chance(percent)
  return self:between(1, 100) <= percent
end

--- Returns a random element of a list.
function Generator:pick(list)
  return list[self:between(1, #list)]
end

--- Returns a new list of `count` different elements of `list`, in random order.
-- @raise if the list has fewer
function Generator:sample(list, count)
  if count > #list then
    error(("sample: argument 2: expected at most %d, the length of the list, got %d"):format(#list, count), 2)
  end
  local deck, drawn = table.move(list, 1, #list, 1, {}), {}
  for i = 1, count do
    local j = self:between(i, #deck)
    deck[i], deck[j] = deck[j], deck[i]
    drawn[i] = deck[i]
  end
  return drawn
end

return random
