--- Lua that never touches the database: calls, tables and strings. Runs under any Lua 5.4.
local timing = require "timing"

local function fibonacci(n)
  if n < 2 then return n end
  return fibonacci(n - 1) + fibonacci(n - 2)
end

--- Computes a sieve, sorts, and looks up strings.
local function tables()
  local sieve, primes = {}, {}
  for i = 2, 400000 do
    if not sieve[i] then
      primes[#primes + 1] = i
      for j = i * i, 400000, i do sieve[j] = true end
    end
  end
  table.sort(primes, function(a, b) return a % 1000 < b % 1000 or (a % 1000 == b % 1000 and a < b) end)
  local by_name = {}
  for _, prime in ipairs(primes) do by_name["p" .. prime] = prime end
  local sum = 0
  for _, prime in pairs(by_name) do sum = sum + prime end
  return sum
end

local function strings()
  local parts = {}
  for i = 1, 60000 do parts[i] = ("%d:%s"):format(i, ("x"):rep(i % 7)) end
  local text, count = table.concat(parts, ","), 0
  for number, xs in text:gmatch("(%d+):(x*)") do count = count + #number + #xs end
  return count + #text:gsub("x+", function(xs) return #xs end)
end

timing.measure(os.clock, 3, function()
  return fibonacci(30) .. "/" .. tables() .. "/" .. strings()
end)
