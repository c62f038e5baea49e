--- The options of `db:write`: db:write({ note = "prices of May", retry = 3 }, function(db) ... end).

local errors = require "perilune.native.errors"
local checks = require "perilune.runtime.checks"

local known = { note = "string", retry = "number" }
local most_retries = 1000

local function read_retry(value)
  if value == nil then return 0 end
  if math.type(value) == "integer" and value >= 0 and value <= most_retries then return value end
  checks.fail("db:write: option `retry`", "expected an integer from 0 to " .. most_retries .. ", got " .. errors.describe(value))
end

local function write_once(db, note, block, ...)
  if note == nil then return db:write(block, ...) end
  return require("perilune.events.history_notes").write_noted(db, note, block, ...)
end

local function has_moved(err)
  if type(err) ~= "userdata" then return false end
  local is_object, kind = pcall(function() return err.kind end)
  return is_object and kind == "cluster_moved"
end

--- Calls the block again if the cluster has changed its leader before the commit.
local function write_again(retry, db, note, block, ...)
  for _ = 1, retry do
    local results = table.pack(pcall(write_once, db, note, block, ...))
    if results[1] then return table.unpack(results, 2, results.n) end
    if not has_moved(results[2]) then error(results[2], 0) end
  end
  return write_once(db, note, block, ...)
end

--- Implements `db:write` with options. Arguments: the database, the options, the block, and the block's arguments.
return function(db, options, block, ...)
  if type(options) == "string" then
    checks.fail("db:write: argument 1", ("expected a function, got %s; use db:write({ note = %q }, function(db) ... end)"):format(errors.describe(options), options))
  end
  if getmetatable(options) ~= nil then checks.fail("db:write: argument 1", "expected a function, got " .. errors.describe(options)) end
  local given = checks.options("db:write", options, known)
  if next(options) == nil then checks.fail("db:write", "expected the option `note` or `retry`") end
  local retry = read_retry(given.retry)
  checks.block("db:write", block)
  -- Inside a transaction, the block cannot be repeated, because the outer transaction is lost, too.
  if db:is_inside_transaction() then retry = 0 end
  return write_again(retry, db, given.note, block, ...)
end
