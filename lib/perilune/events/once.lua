--- perilune.once: blocks that run only once in a database.

local crashes = require "perilune.native.crashes"
local databases = require "perilune.native.databases"
local errors = require "perilune.native.errors"
local perilune = require "perilune"
local checks = require "perilune.runtime.checks"
local database_argument = require "perilune.runtime.database_argument"

--- The functions that scripts call.
local public = {}

local own = "/* perilune */ "

local definition = own .. [[
  CREATE TABLE IF NOT EXISTS perilune_once (once_key TEXT NOT NULL PRIMARY KEY, done_at TEXT NOT NULL, value TEXT)]]

local longest_key = 500

local function encode(value)
  if value == nil then return perilune.null end
  local is_ok, text = pcall(perilune.json.encode, value)
  if is_ok then return text end
  checks.fail("perilune.once", "expected a result that JSON can express: " .. (type(text) == "userdata" and text.message or tostring(text)))
end

--- Calls a block in a transaction, unless it was called for this key before. The block's writes and the record of the key are committed
-- together.
-- @tparam ?database db
-- @tparam string key
-- @tparam function block receives a handle; its result is stored
-- @return the result of the block, from this call or from the first one
-- @treturn boolean whether this call has called the block
function public.once(...)
  local db, key, block = database_argument.take("perilune.once", 2, ...)
  if type(key) ~= "string" or key == "" then
    checks.fail("perilune.once", "expected a key as a string, got " .. errors.describe(key)
      .. (type(key) == "function" and "; use perilune.once(\"key\", f)" or ""))
  end
  if #key > longest_key then checks.fail("perilune.once", ("expected a key of at most %d bytes, got %d"):format(longest_key, #key)) end
  checks.block("perilune.once", block)
  db = checks.database("perilune.once", db)
  return databases.guarded(db, function(handle)
    handle:execute(definition)
    local row = handle:fetch_one(own .. "SELECT value FROM perilune_once WHERE once_key = ?", key)
    if row then return row.value and perilune.json.decode(row.value), false end
    local value = block(handle)
    crashes.label("once", key)
    handle:execute(own .. "INSERT INTO perilune_once VALUES (?, ?, ?)", key, tostring(perilune.now()), encode(value))
    return value, true
  end)
end

return public
