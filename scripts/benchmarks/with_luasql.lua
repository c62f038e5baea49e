--- The work done by LuaSQL, the most common SQLite library for Lua. Arguments: the measure, the database's path.
local found, luasql = pcall(require, "luasql.sqlite3")
if not found then
  io.stderr:write("LuaSQL is missing: apt-get install lua-sql-sqlite3\n")
  os.exit(77)
end
local timing = require "timing"
local work = require "work"

local measure, path = ...
local environment = luasql.sqlite3()
local db = assert(environment:connect(path))
local measures = {}

-- Lua's own wall clock only counts seconds; SQLite's counts milliseconds.
local clock = assert(environment:connect(":memory:"))
local function wall()
  local cursor = clock:execute("SELECT julianday('now') * 86400.0")
  local seconds = tonumber(cursor:fetch())
  cursor:close()
  return seconds
end

local function run(body, prepare)
  timing.measure(wall, work.repetitions, body, prepare)
end

--- Fetches a row by its key. LuaSQL cannot bind values or keep statements, so each call passes SQL text.
local getter = {}
function getter:fetch_one(id)
  local cursor = assert(db:execute((work.select_one:gsub("?", id))))
  local row = cursor:fetch({}, "a")
  cursor:close()
  return row
end

local inserter = {}
function inserter:execute(id, name, price, quantity, note)
  local note_literal = note and "'" .. db:escape(note) .. "'" or "NULL"
  assert(db:execute(("INSERT INTO sale (id, name, price, quantity, note) VALUES (%d, '%s', %.17g, %d, %s)"):format(
    id, db:escape(name), price, quantity, note_literal)))
end

function measures.fetch_all()
  run(function()
    local rows, cursor = {}, assert(db:execute(work.select_all))
    local row = cursor:fetch({}, "a")
    while row do
      rows[#rows + 1] = row
      row = cursor:fetch({}, "a")
    end
    return rows
  end)
end

function measures.tuples()
  run(function()
    local count, last = 0, nil
    local cursor = assert(db:execute(work.select_all))
    local id, name, price, quantity, note = cursor:fetch()
    while id do
      count, last = count + 1, id
      id, name, price, quantity, note = cursor:fetch()
    end
    return count .. "/" .. last
  end)
end

function measures.select_inside()
  run(function()
    db:setautocommit(false)
    local sum = work.select_each(work.select_count, getter)
    db:commit()
    db:setautocommit(true)
    return sum
  end)
end

function measures.select_outside()
  run(function() return work.select_each(work.autocommit_select_count, getter) end)
end

function measures.insert()
  run(function()
    db:setautocommit(false)
    local count = work.insert_each(inserter)
    db:commit()
    db:setautocommit(true)
    return count
  end, function()
    for statement in work.create_sale:gmatch("[^;]+") do assert(db:execute(statement)) end
  end)
end

measures[measure]()
