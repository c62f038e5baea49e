-- Writes the files that the programs read: a text of 60,000 words, and 10,000 measured values. Argument: the folder.
local folder = ...
local state = 1
local function random(limit)
  state = (state * 1103515245 + 12345) % 2147483648
  return state // 65536 % limit + 1
end

local text <close> = assert(io.open(folder .. "/text.txt", "w"))
for _ = 1, 6000 do
  local words = {}
  for i = 1, 10 do words[i] = ("word"):rep(random(2)) .. string.char(96 + random(26)) .. string.char(96 + random(26)) end
  text:write(table.concat(words, " "), "\n")
end

local readings <close> = assert(io.open(folder .. "/readings.csv", "w"))
readings:write("station,day,value\n")
for i = 1, 10000 do
  readings:write("station ", i % 20, (",2026-%02d-%02d,"):format(i % 12 + 1, i % 28 + 1), random(1000) / 10, "\n")
end
