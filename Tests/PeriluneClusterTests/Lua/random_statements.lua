-- Random statements produce the same rows, changes, errors and final contents in a cluster as in a file.
local given = rawget(_G, "arg") or {}
local seed, count = tonumber(given[1]) or 1, tonumber(given[2]) or 2000
math.randomseed(seed)
local file = perilune.queue()
local random = math.random
local function one(list) return list[random(#list)] end

local setup = {
  "CREATE TABLE a (id INTEGER PRIMARY KEY, n INTEGER UNIQUE, t TEXT NOT NULL DEFAULT 'x', r REAL, b BLOB, flag BOOLEAN, at DATETIME, CHECK (n <> 13))",
  "CREATE TABLE c (id INTEGER PRIMARY KEY, a_id INTEGER REFERENCES a(id) ON DELETE CASCADE, v, w)",
  "CREATE TABLE k (k TEXT PRIMARY KEY COLLATE NOCASE, v) WITHOUT ROWID",
  "CREATE TABLE log (what)",
  "CREATE INDEX i ON c (v, w)",
  "CREATE VIEW both AS SELECT a.id, a.n, c.v FROM a LEFT JOIN c ON c.a_id = a.id",
  "CREATE TRIGGER kept AFTER DELETE ON a BEGIN INSERT INTO log VALUES (old.n); END",
}
for _, sql in ipairs(setup) do db:execute(sql) file:execute(sql) end

local function value()
  local kind = random(12)
  if kind <= 4 then return random(-20, 60) end
  if kind == 5 then return perilune.null end
  if kind == 6 then return random() * 100 end
  if kind == 7 then return one { "", "a", "Grüße", "it's", "1", "0.5", "null", ("long"):rep(random(800)), "\u{10FFFF}" } end
  -- Text made from it contains no NUL, at which a node would truncate it.
  if kind == 8 then return perilune.blob(string.char(random(255), random(255)):rep(random(0, 40))) end
  if kind == 9 then return one { 1 << 62, math.mininteger, 2 ^ 53, -0.0, 1e308, 5e-324 } end
  if kind == 10 then return random(2) == 1 end
  return "t" .. random(30)
end
local function expression(depth)
  depth = depth or 0
  local kind = random(depth > 2 and 3 or 8)
  if kind <= 2 then return one { "?", "?", "NULL", "7", "'s'", "1.5", "x'01ff'" } end
  if kind == 3 then return one { "random() IS NULL", "typeof(?)", "hex(?)", "quote(?)", "length(?)" } end
  if kind == 4 then return ("(%s %s %s)"):format(expression(depth + 1), one { "+", "-", "*", "/", "||", "=", "<", "IS" }, expression(depth + 1)) end
  if kind == 5 then return ("CASE WHEN %s THEN %s ELSE %s END"):format(expression(depth + 1), expression(depth + 1), expression(depth + 1)) end
  if kind == 6 then return ("coalesce(%s, %s)"):format(expression(depth + 1), expression(depth + 1)) end
  if kind == 7 then return "abs(" .. expression(depth + 1) .. ")" end
  return "json(" .. one { "'{\"a\": 1}'", "'no'", "?" } .. ")"
end
local returning = { "", "", " RETURNING *", " RETURNING id, n AS number", " RETURNING id + ?" }
local makers = {
  function() return "INSERT INTO a (n, t, r, b) VALUES (?, ?, ?, ?)" .. one(returning) end,
  function() return "INSERT INTO a (n, t) VALUES (?, ?), (?, ?)" .. one(returning) end,
  function() return one { "INSERT OR IGNORE", "INSERT OR REPLACE", "REPLACE" } .. " INTO a (id, n) VALUES (?, ?)" .. one(returning) end,
  function() return "INSERT INTO a (id, n) VALUES (?, ?) ON CONFLICT DO UPDATE SET t = excluded.n || 'u', r = ?" .. one(returning) end,
  function() return "INSERT INTO c (a_id, v, w) SELECT id, n, ? FROM a WHERE n > ? LIMIT 5" end,
  function() return "INSERT INTO c (a_id, v) VALUES (?, " .. expression() .. ")" end,
  function() return "INSERT INTO k VALUES (?, ?)" .. one { "", " ON CONFLICT (k) DO NOTHING", " RETURNING k" } end,
  function() return "INSERT INTO a (n, flag, at) VALUES (?, 1, '2026-01-01')" .. one(returning) end,
  function() return "UPDATE a SET n = n + ?, t = coalesce(?, t) WHERE id % 5 = ?" .. one(returning) end,
  function() return "UPDATE OR IGNORE a SET n = ? WHERE n < ?" .. one(returning) end,
  function() return "UPDATE c SET v = " .. expression() .. " WHERE id = ?" end,
  function() return "DELETE FROM a WHERE id = ?" .. one(returning) end,
  function() return "DELETE FROM c WHERE v IS ? OR w = ?" end,
  function() return "SELECT *, " .. expression() .. " AS e FROM a ORDER BY id LIMIT ? OFFSET 1" end,
  function() return "SELECT " .. expression() .. " AS x, " .. expression() .. " AS y" end,
  function() return "SELECT flag, at, count(*) AS n, sum(r) AS r, group_concat(t, ',') AS t FROM (SELECT * FROM a ORDER BY id) GROUP BY flag, at ORDER BY 1, 2" end,
  function() return "SELECT * FROM both WHERE n > ? ORDER BY id, v" end,
  function() return "SELECT a.id, a.flag, c.id AS c_id, c.v, c.w FROM a JOIN c ON c.a_id = a.id WHERE c.v IS NOT ? ORDER BY a.id, c.id" end,
  function() return "WITH q AS (SELECT id, n, row_number() OVER (ORDER BY n, id) AS place FROM a) SELECT * FROM q WHERE place <= ? ORDER BY place" end,
  function() return "SELECT max(at) AS at, min(flag) AS flag, total(n) AS n FROM a" end,
  function() return "SELECT changes() AS changes, last_insert_rowid() > 0 AS has_id" end,
  function() return "SELECT nothing FROM a" end,
  function() return "INSERT INTO log SELECT typeof(v) FROM c ORDER BY id" end,
}

local function same(a, b) return a == b and math.type(a) == math.type(b) and (a ~= 0 or 1 / a == 1 / b) or a ~= a and b ~= b end
local function compare(what, here, there)
  assert(#here == #there, ("%s: %d rows, expected %d"):format(what, #there, #here))
  for i, row in ipairs(here) do
    for name, value in pairs(row) do
      assert(same(value, there[i][name]), ("%s: row %d: %s: %s, expected %s"):format(what, i, name, tostring(there[i][name]), tostring(value)))
    end
    assert(tostring(row) == tostring(there[i]), what)
  end
end

local done, failed = 0, 0
--- Runs a statement in both databases. Returns whether it has failed.
local function run(db, file, in_block)
  local sql = one(makers)()
  if not in_block and sql:find("changes()", 1, true) then return false end
  local values = {}
  for _ in sql:gmatch("%?") do values[#values + 1] = value() end
  local what = ("seed %d, statement %d: %s"):format(seed, done, sql)
  done = done + 1
  local method = (sql:find("SELECT", 1, true) == 1 or sql:find("WITH", 1, true) == 1 or sql:find("RETURNING")) and "fetch_all" or "execute"
  local ok, here = pcall(file[method], file, sql, values)
  local is_done, there = pcall(db[method], db, sql, values)
  assert(ok == is_done, ("%s: %s, expected %s"):format(what, tostring(there), tostring(here)))
  if not ok then
    failed = failed + 1
    assert(here.extended_code == there.extended_code and here.message == there.message and here.kind == there.kind,
      ("%s: %s, expected %s"):format(what, tostring(there), tostring(here)))
  elseif method == "fetch_all" then
    compare(what, here, there)
  elseif not sql:find("ON CONFLICT DO UPDATE", 1, true) then
    assert(tostring(here) == tostring(there), ("%s: %s, expected %s"):format(what, tostring(there), tostring(here)))
  end
  return not ok
end

local function check()
  for _, table in ipairs { "a", "c", "k", "log" } do compare("table " .. table, file:fetch_all("SELECT * FROM " .. table), db:fetch_all("SELECT * FROM " .. table)) end
end

while done < count do
  if random(3) == 1 then
    local undone, depth = random(4) == 1, random(3)
    pcall(file.write, file, function(file)
      local finished = pcall(db.write, db, function(db)
        for _ = 1, random(12) do
          if depth > 1 and random(4) == 1 then
            local keeps = random(2) == 1 and "commit" or "rollback"
            file:in_savepoint(function(file)
              db:in_savepoint(function(db) for _ = 1, random(4) do run(db, file, true) end return keeps end)
              return keeps
            end)
          else
            run(db, file, true)
          end
        end
        if undone then error("undone", 0) end
      end)
      assert(finished ~= undone, "a block")
      if undone then error("undone", 0) end
    end)
  else
    run(db, file)
  end
  if random(100) == 1 then check() end
end
check()
assert(failed > count / 100 and failed < count * 0.7, failed)
db:execute("CREATE TABLE seen (text)")
db:execute("INSERT INTO seen VALUES ('statements-were-compared')")
return "statements-were-compared"
