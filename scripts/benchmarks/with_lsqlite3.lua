--- The work done by lsqlite3, with prepared statements. Arguments: the measure, the database's path.
local found, sqlite = pcall(require, "lsqlite3")
if not found then
  io.stderr:write("lsqlite3 is missing: give the folder of its source as LSQLITE3\n")
  os.exit(77)
end
local timing = require "timing"
local work = require "work"

local measure, path = ...
local db = assert(sqlite.open(path))
local measures = {}

local clock = sqlite.open(":memory:"):prepare("SELECT julianday('now') * 86400.0")
local function wall()
  clock:step()
  local seconds = clock:get_value(0)
  clock:reset()
  return seconds
end

local function run(body, prepare)
  timing.measure(wall, work.repetitions, body, prepare)
end

local function execute(sql)
  if db:exec(sql) ~= sqlite.OK then error(db:errmsg()) end
end

--- Returns an object that fetches a row by its key with one prepared statement.
local function make_getter()
  local statement, getter = assert(db:prepare(work.select_one)), {}
  function getter:fetch_one(id)
    statement:bind_values(id)
    statement:step()
    local row = statement:get_named_values()
    statement:reset()
    return row
  end
  return getter
end

function measures.fetch_all()
  run(function()
    local rows = {}
    for row in db:nrows(work.select_all) do rows[#rows + 1] = row end
    return rows
  end)
end

function measures.tuples()
  run(function()
    local count, last = 0, nil
    for id in db:urows(work.select_all) do count, last = count + 1, id end
    return count .. "/" .. last
  end)
end

function measures.select_inside()
  local getter = make_getter()
  run(function()
    execute("BEGIN")
    local sum = work.select_each(work.select_count, getter)
    execute("COMMIT")
    return sum
  end)
end

function measures.select_outside()
  local getter = make_getter()
  run(function() return work.select_each(work.autocommit_select_count, getter) end)
end

function measures.request_form()
  run(function()
    execute("BEGIN")
    local count = work.form_each(function(form, quantity)
      local statement, rows = assert(db:prepare(work.select_form(form))), {}
      statement:bind_values(quantity, 10)
      for row in statement:nrows() do rows[#rows + 1] = row end
      statement:finalize()
      return rows
    end)
    execute("COMMIT")
    return count
  end)
end

function measures.insert()
  local statement
  run(function()
    local inserter = {}
    function inserter:execute(...)
      statement:bind_values(...)
      statement:step()
      statement:reset()
    end
    execute("BEGIN")
    local count = work.insert_each(inserter)
    execute("COMMIT")
    return count
  end, function()
    if statement then statement:finalize() end
    execute(work.create_sale)
    statement = assert(db:prepare(work.insert))
  end)
end

measures[measure]()
