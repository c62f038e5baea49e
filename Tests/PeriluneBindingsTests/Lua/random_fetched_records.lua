--- A record that was just fetched from a random row has no changes, and writing one column does not affect the others.

local random, pick = random_numbers(20261127)

local declared = { "", "TEXT", "INTEGER", "REAL", "NUMERIC", "BLOB", "BOOLEAN", "DATETIME", "DATE", "TEXT COLLATE NOCASE", "DECIMAL(10, 2)", "VARCHAR(20)", "ANY", "JSON" }

local color = perilune.enum{ red = "r", blue = 3 }
local wrapped = {
  name = "wrapped",
  from_database = function(value) return { inner = value } end,
  to_database = function(value) return value.inner end,
}
local empty = {
  name = "empty",
  from_database = function(value) if value == "null" or value == "" then return perilune.null end return value end,
  to_database = function(value) if value == perilune.null then return "" end return value end,
}
local types = { false, false, "any", "json", wrapped, empty, "string", "integer", "float", "boolean", "blob", "date", "date_components", color }

--- SQL literals of each storage class, including texts that types can read, and texts that they narrowly reject.
local values = {
  "NULL", "0", "1", "-1", "5", "9007199254740993", "9223372036854775807", "-9223372036854775808", "0.0", "-0.0", "1.5", "2.0", "1e300", "9e999", "-9e999", "0.1",
  "''", "'a'", "'null'", "'true'", "' 1'", "'1'", "'01'", "'1.0'", "'1e3'", "'1e400'", "'abc'", "'é'", "'r'", "x''", "x'00ff'", "x'6e756c6c'", "x'31'",
  "'2024-02-29'", "'2024-02-29 10:00'", "'2024-02-29 10:00:00'", "'2024-02-29T10:00:00.5Z'", "'2024-02-29 10:00:00.123456'", "'10:30'", "1709200000", "2460000.5",
  "'[]'", "'{}'", "'[null]'", "'{\"a\":null}'", "'[1.0, 2, 1E400]'", "' null '", "'\"null\"'", "'{\"b\":1,\"a\":2}'", "'[1 , 2]'", "'1E400'", "'9007199254740993'",
  "char(0)", "'a' || char(0) || 'b'",
}

local columns = { "a", "b", "c" }

local function make(number)
  local parts, of = {}, {}
  for _, name in ipairs(columns) do
    parts[#parts + 1] = name .. " " .. pick(declared)
    of[name] = pick(types) or nil
  end
  local name = "t" .. number
  db:execute(("CREATE TABLE %s (id INTEGER PRIMARY KEY, %s, note TEXT)"):format(name, table.concat(parts, ", ")))
  return name, perilune.record(name, next(of) and { types = of } or nil), table.concat(parts, ", "), of
end

local function stored(name)
  return db:fetch_value(("SELECT quote(a) || ' ' || typeof(a) || '|' || quote(b) || ' ' || typeof(b) || '|' || quote(c) || ' ' || typeof(c) FROM %s"):format(name))
end

local verbs = {
  update_changes = function(record, note) record:update_changes{ note = note } end,
  update_changes_by_function = function(record, note) record:update_changes(function(self) self.note = note end) end,
  update = function(record, note) record.note = note record:update() end,
  save = function(record, note) record.note = note record:save() end,
  upsert = function(record, note) record.note = note record:upsert() end,
  copy = function(record, note) record:copy{ note = note }:update() end,
  upsert_all = function(record, note, class) record.note = note class:upsert_all({ record }, { target = "id" }) end,
  draft = function(record, note, class) record.note = note class:upsert(class.draft(record)) end,
  draft_copy = function(record, note, class) record.note = note class:upsert(class.draft(record):copy()) end,
}
local verb_names = {}
for name in pairs(verbs) do verb_names[#verb_names + 1] = name end
table.sort(verb_names)

--- Returns whether a verb writes unchanged values back exactly. A draft has no row to compare with, boolean columns write any true number
-- as 1, columns declared for bytes write texts as bytes, and other types write bytes as text.
local function keeps_spelling(verb, place, of)
  if verb:find("draft", 1, true) then return false end
  if verb:find("update_changes", 1, true) then return true end
  local has_other = place:find("BOOLEAN", 1, true) or place:find("BLOB", 1, true) or (next(of) or place:find("DATE", 1, true)) and place:find("x'", 1, true)
  for _, wanted in pairs(of) do has_other = has_other or wanted == "boolean" or wanted == "blob" end
  return not has_other
end

local function play(games)
  local count = 0
  for number = 1, games do
    local name, Class, definition, of = make(number)
    for _ = 1, 6 do
      local chosen = { pick(values), pick(values), pick(values) }
      db:execute(("DELETE FROM %s; INSERT INTO %s VALUES (1, %s, 'old')"):format(name, name, table.concat(chosen, ", ")))
      -- A type may be unable to read a stored value.
      local is_read, record = pcall(Class.find, Class, 1)
      if is_read then
        count = count + 1
        local place = definition .. " | " .. table.concat(chosen, ", ")
        if record:has_changes() then error(("%s: the fetched record has changes: %s"):format(place, next(record:changes())), 0) end
        equal(record:update_changes(), false)
        local before, verb = stored(name), pick(verb_names)
        local is_written, failure = pcall(verbs[verb], record, "new", Class)
        -- A value that is not a boolean can be fetched from a boolean column, but not written to it.
        if not is_written and not keeps_spelling(verb, place, of) and failure.kind == "conversion" then goto continue end
        if not is_written then error(("%s: %s: %s"):format(place, verb, tostring(failure)), 0) end
        if keeps_spelling(verb, place, of) and stored(name) ~= before then error(("%s: %s: %s became %s"):format(place, verb, before, stored(name)), 0) end
        equal(db:fetch_value("SELECT note FROM " .. name), "new")
      end
      ::continue::
    end
    db:execute("DROP TABLE " .. name)
  end
  equal(count > games, true)
end

test("a fetched record has no changes, and writing it preserves unchanged values", function() play(rounds(60)) end)
