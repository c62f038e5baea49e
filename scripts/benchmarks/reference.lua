--- The work done by the hand-written C of CPeriluneBenchmarks. Arguments: the measure, the database's path.
local reference = require "reference"
local timing = require "timing"
local work = require "work"

local measure, path = ...
local db = reference.open(path)
local measures = {}

local function run(body, prepare)
  timing.measure(reference.now, work.repetitions, body, prepare)
end

--- Creates the database that all contestants read. Not measured.
function measures.create()
  db:execute(work.create_product)
end

function measures.fetch_all()
  run(function() return db:fetch_all(work.select_all) end)
end

function measures.fetch_all_by_name()
  run(function() return db:fetch_all_by_name(work.select_all) end)
end

function measures.tuples()
  run(function()
    local count, last = 0, nil
    for id, name, price, quantity, note in db:tuples(work.select_all) do count, last = count + 1, id end
    return count .. "/" .. last
  end)
end

function measures.rows()
  run(function()
    local count, last = 0, nil
    for row in db:rows(work.select_all) do count, last = count + 1, row.id end
    return count .. "/" .. last
  end)
end

function measures.select_inside()
  local statement = db:prepare(work.select_one)
  run(function()
    db:execute("BEGIN")
    local sum = work.select_each(work.select_count, statement)
    db:execute("COMMIT")
    return sum
  end)
end

function measures.select_outside()
  local statement = db:prepare(work.select_one)
  run(function()
    return work.select_each(work.autocommit_select_count, statement)
  end)
end

local function insert(sql, insert_each)
  run(function()
    local statement = db:prepare(sql)
    db:execute("BEGIN")
    local count = insert_each(statement)
    db:execute("COMMIT")
    return count
  end, function()
    collectgarbage()
    db:execute(work.create_sale)
  end)
end

function measures.insert() insert(work.insert, work.insert_each) end

function measures.insert_many() insert(work.insert_many, work.insert_many_each) end

function measures.stream()
  local watch = timing.memory_watch()
  timing.measure(reference.now, 1, function()
    local count, last = 0, nil
    for row in db:rows(work.stream) do
      count, last = count + 1, row.id
      watch(count)
    end
    return count .. "/" .. last
  end)
end

measures[measure]()
