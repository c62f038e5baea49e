--- Observations whose value cannot be fetched, in virtual time.

db:execute("CREATE TABLE IF NOT EXISTS author (id INTEGER PRIMARY KEY, name TEXT)")

local function insert(name) return db:execute("INSERT INTO author (name) VALUES (?)", name) end

local function names(db) return table.concat(db:fetch_values("SELECT name FROM author ORDER BY id"), " ") end

--- Waits until the event loop has made all due calls.
local function settle()
  for _ = 1, 5 do perilune.sleep(0.001) end
end

test("a failed fetch is retried after a delay that doubles with each failure", function()
  local errors, pauses, got, fetched, is_broken = {}, {}, {}, 0, true
  local observation = db:observe(function(db)
    fetched = fetched + 1
    local value = names(db)
    if is_broken then db:fetch_value("SELECT nothing") end
    return value
  end, function(value) got[#got + 1] = value end, { on_error = function(e, seconds)
    errors[#errors + 1], pauses[#pauses + 1] = e, seconds
  end })
  settle()
  equal({ fetched, pauses }, { 1, { 1.0 } })
  equal(errors[1].retry_in, 1.0)
  insert("a") insert("b") settle()
  equal(fetched, 1)
  perilune.sleep(1)
  equal({ fetched, pauses }, { 2, { 1.0, 2.0 } })
  is_broken = false
  perilune.sleep(2)
  equal(got, { "a b" })
  is_broken = true
  insert("c") settle()
  equal(pauses, { 1.0, 2.0, 1.0 })
  observation:cancel()
  perilune.sleep(5)
  equal(#pauses, 3)
end)

test("an error in the callback does not delay the next value", function()
  local errors, seen = {}, nil
  local observation = db:observe(names, function() error("callback", 0) end, { on_error = function(e, seconds)
    errors[#errors + 1], seen = e, seconds
  end })
  settle() insert("a") settle()
  equal(errors, { "callback", "callback" })
  equal(seen, nil)
  observation:cancel()
end)

test("errors in fetching or in the callback go to on_error, and the observation continues", function()
  local errors, got = {}, {}
  db:observe(function(db)
    local text = names(db)
    if text == "a" then error("no a", 0) end
    return text
  end, function(text)
    if text == "a b" then error({ kind = "mine" }) end
    got[#got + 1] = text
  end, { on_error = function(err) errors[#errors + 1] = type(err) == "table" and err.kind or tostring(err) end })
  settle()
  insert("a") settle()
  insert("b") perilune.sleep(1)
  insert("c") settle()
  equal(errors, { "no a", "mine" })
  equal(got, { "", "a b c" })
end)

test("an observation delivers the SQL error of a dropped table and continues when the table exists again", function()
  local errors, got = {}, {}
  db:observe(function(db) return db:fetch_value("SELECT COUNT(*) FROM later") end, function(count) got[#got + 1] = count end,
    { on_error = function(err) errors[#errors + 1] = err.kind end })
  settle()
  equal(errors, { "sql" })
  db:execute("CREATE TABLE later (a)") perilune.sleep(1)
  db:execute("INSERT INTO later VALUES (1)") settle()
  equal(got, { 0, 1 })
end)
