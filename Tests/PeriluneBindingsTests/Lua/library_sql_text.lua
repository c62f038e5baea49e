-- The library's view of SQL text: case-insensitive names, and tokens.

local names = library("perilune.runtime.names")
local native_sql = library("perilune.native.sql")

test("SQL names are compared without regard to ASCII case", function()
  equal(names.fold("AbZ_[`Ä\xC4\0z"), "abz_[`Ä\xC4\0z")
  assert(names.same("Lines", "LINES"))
  assert(not names.same("Ä", "ä"))
  equal(db:fetch_value("SELECT ? = ? COLLATE NOCASE", "Ä", "ä"), 0)
end)

test("each letter is case-folded like in SQLite", function()
  for byte = 1, 127 do
    local letter = string.char(byte)
    equal(names.fold(letter), db:fetch_value("SELECT lower(?)", letter))
  end
end)

test("SQL text is split into SQLite's tokens", function()
  local text, parts = "SELECT [a b], 'it''s' -- x\nFROM \"t\"\"\" WHERE b=:c+1.5", {}
  for _, token in ipairs(native_sql.tokens(text)) do
    if token.kind ~= "blank" then parts[#parts + 1] = token.kind .. " " .. (token.name or token.text) end
  end
  equal(parts, { "word SELECT", "name a b", "sign ,", "string 'it''s'", "comment -- x", "word FROM", 'name t"', "word WHERE",
    "word b", "sign =", "parameter :c", "sign +", "number 1.5" })
  equal(native_sql.tokens(""), {})
  local whole = {}
  for index, token in ipairs(native_sql.tokens(text)) do whole[index] = token.text end
  equal(table.concat(whole), text)
end)
