--- Loops over tables of ten keys, by `pairs` and by `next`. Runs under any Lua 5.4.
local timing = require "timing"

local words = {
  alpha = 1, beta = 2, gamma = 3, delta = 4, epsilon = 5, zeta = 6, eta = 7, theta = 8, iota = 9, kappa = 10,
}
local list = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 }

local function loops()
  local sum = 0
  for _ = 1, 60000 do
    for _, value in pairs(words) do sum = sum + value end
    for _, value in next, words do sum = sum + value end
    for _, value in pairs(list) do sum = sum + value end
  end
  return sum
end

timing.measure(os.clock, 3, loops)
