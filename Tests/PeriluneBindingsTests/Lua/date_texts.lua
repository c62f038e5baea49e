--- Date texts are parsed in two places, by the row path and by perilune.date. Both must read the same texts as the same dates.

local function pick(list) return list[math.random(#list)] end

local function number(width, most)
  -- Mostly valid parts, and parts just outside the valid range.
  local value = math.random(0, most + 1)
  return ("%0" .. width .. "d"):format(value)
end

local function day()
  return pick{ number(4, 9998), "0000", "0001", "1970", "2024", "9999" } .. "-" .. number(2, 12) .. "-" .. pick{ number(2, 31), "28", "29", "30", "31" }
end

local function fraction()
  if math.random(2) == 1 then return "" end
  return "." .. ("%09d"):format(math.random(0, 999999999)):sub(1, math.random(0, 9)) .. pick{ "", "", "999", "5" }
end

local function time()
  local text = number(2, 24) .. ":" .. number(2, 60)
  if math.random(3) > 1 then text = text .. ":" .. number(2, 60) .. fraction() end
  return text
end

local function zone()
  return pick{ "", "", "", "Z", "z", " Z", "+00:00", "-00:00", " +01:30", pick{ "+", "-" } .. number(2, 15) .. ":" .. number(2, 60), "+0200", "+2" }
end

--- Returns the text with one byte added, removed or changed.
local function damaged(text)
  local position, byte = math.random(#text), pick{ "0", "9", "-", ":", ".", " ", "T", "Z", "+", "x", "\0", "\xff", "" }
  return text:sub(1, position - 1) .. byte .. text:sub(position + math.random(0, 1))
end

local function text()
  local made = pick{ day, time, function() return day() .. pick{ " ", "T", "t", "  " } .. time() end }() .. zone()
  return math.random(4) == 1 and damaged(made) or made
end

test("DATETIME columns and perilune.date read random texts identically", function()
  db:execute "CREATE TABLE event (id INTEGER PRIMARY KEY, at DATETIME)"
  local Event = perilune.record "event"
  local texts, readable = {}, 0
  db:in_transaction(function(db)
    for index = 1, 4000 do
      texts[index] = text()
      db:execute("INSERT INTO event VALUES (?, ?)", index, texts[index])
    end
    return "commit"
  end)
  db:read(function()
    for index, text in ipairs(texts) do
      local is_read, event = pcall(Event.find, Event, index)
      local is_date, date = pcall(perilune.date, text)
      if is_read ~= is_date or is_date and event.at ~= date then
        error(("%q: the row path gives %s, perilune.date %s"):format(text, is_read and event.at or event, date))
      end
      if is_date then readable = readable + 1 end
    end
  end)
  assert(readable > 500 and readable < 3500, readable)
end)
