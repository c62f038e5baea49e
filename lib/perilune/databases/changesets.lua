--- Changesets: the row changes made by a block, as a value that can be inspected, inverted, combined, saved and applied.

local changesets = require "perilune.native.changesets"
local databases = require "perilune.native.databases"
local errors = require "perilune.native.errors"
local native_schema = require "perilune.native.schema"
local native_observation = require "perilune.native.observation"
local native_records = require "perilune.native.records"
local full_text_synchronization = require "perilune.schema.full_text_synchronization"
local arity = require "perilune.runtime.arity"
local checks = require "perilune.runtime.checks"

--- The functions that scripts call.
local public = {}

local Changeset = {}
Changeset.__metatable = "changeset"

--- The bytes of each changeset. Scripts cannot access them as fields.
local bytes_of = setmetatable({}, { __mode = "k" })

local function make(bytes)
  local changeset = setmetatable({}, Changeset)
  bytes_of[changeset] = bytes
  return changeset
end

local function check_changeset(place, value)
  local bytes = bytes_of[value]
  if bytes == nil then checks.fail(place, "expected a changeset, got " .. errors.describe(value)) end
  return bytes
end

local function own_bytes(self, method)
  local bytes = bytes_of[self]
  if bytes == nil then checks.fail("changeset:" .. method, "call it with a colon, got " .. errors.describe(self) .. " before the arguments") end
  return bytes
end

-- Reading -------------------------------------------------------------------------------------------------------------------------

--- Returns whether the changeset is empty.
function Changeset:is_empty()
  return own_bytes(self, "is_empty") == ""
end

local of_rows = checks.fields("changed row", "changed_row", { "table", "operation", "key", "old", "new" })

--- Returns the changes as tables with `table`, `operation`, `key`, `old` and `new`. The column names come from a database.
-- @param ?db the default database by default
function Changeset:rows(db)
  local bytes = own_bytes(self, "rows")
  if db ~= nil and not native_records.is_database(db) then
    checks.fail("changeset:rows: argument 1", "expected a database, got " .. errors.describe(db))
  end
  local rows = changesets.rows(db or native_records.default_database(), bytes)
  for index = 1, #rows do setmetatable(rows[index], of_rows) end
  return rows
end

--- Returns the bytes of the changeset, for saving. `perilune.changeset` turns them into a changeset again.
function Changeset:serialize()
  return own_bytes(self, "serialize")
end

--- Returns the number of changes. The default database is needed only because `changesets.rows` names columns.
function Changeset:__len()
  return #changesets.rows(native_records.default_database(), bytes_of[self])
end

function Changeset:__eq(other)
  return bytes_of[self] ~= nil and bytes_of[self] == bytes_of[other]
end

function Changeset:__tostring()
  return bytes_of[self] == "" and "changeset (empty)" or ("changeset (%d bytes)"):format(#bytes_of[self])
end

-- Combining -----------------------------------------------------------------------------------------------------------------------

--- Returns the changeset that undoes this one.
function Changeset:inverted()
  return make(changesets.invert(own_bytes(self, "inverted")))
end

--- Returns a changeset with the changes of this one followed by the changes of another one. The changes of each row are combined into one.
function Changeset:followed_by(other)
  return make(changesets.concat(own_bytes(self, "followed_by"), check_changeset("changeset:followed_by: argument 1", other)))
end

Changeset.__concat = function(first, second)
  return make(changesets.concat(check_changeset("..", first), check_changeset("..", second)))
end

arity.limit(Changeset, "changeset:", { is_empty = 0, rows = 1, serialize = 0, inverted = 0, followed_by = 1 })
checks.seal(Changeset, {}, "changeset")

--- Reads the bytes of a saved changeset.
function public.changeset(bytes)
  if type(bytes) ~= "string" then checks.fail("perilune.changeset: argument 1", "expected a string, got " .. errors.describe(bytes)) end
  changesets.check(bytes)
  return make(bytes)
end

-- Recording -----------------------------------------------------------------------------------------------------------------------

local function take_recorded(bytes, ...)
  return make(bytes), ...
end

local function record(handle, block, ...)
  return take_recorded(changesets.record(handle, block, handle, ...))
end

--- Calls a block in a transaction, or in a savepoint inside one, and records the rows that it changes.
-- @return the changeset, and the results of the block
function public:record_changes(block, ...)
  checks.block("db:record_changes: argument 1", block)
  local options, surplus = ...
  if surplus == nil and type(options) == "table" and getmetatable(options) == nil and (options.tables or options.table) and next(options, next(options)) == nil then
    checks.fail("db:record_changes", "takes no options: all tables are recorded; changeset:rows(db) lists the changes with their `table`")
  end
  return databases.guarded(self, record, block, ...)
end

-- Applying ------------------------------------------------------------------------------------------------------------------------

local place = "db:apply_changes"
local kinds = { "data", "not_found", "conflict", "constraint" }
local words = { "abort", "omit", "replace" }

local function check_word(where, word)
  if type(word) ~= "string" then checks.fail(where, 'expected "abort", "omit" or "replace", got ' .. errors.describe(word)) end
  for _, known in ipairs(words) do
    if word == known then return word end
  end
  errors.raise_unknown("resolution", word, words)
end

--- Reads a conflict rule: a word, words by kind of conflict, or a function. Returns a function that returns a word; nil for "abort".
local function read_rule(rule)
  local where = place .. ": option `conflict`"
  if rule == nil or rule == "abort" then return nil end
  if type(rule) == "function" then
    return function(conflict) return check_word(where .. ": the function", rule(conflict)) end
  end
  if type(rule) == "table" then
    local chosen = checks.options(where, rule, { data = "string", not_found = "string", conflict = "string", constraint = "string" })
    for _, kind in ipairs(kinds) do chosen[kind] = check_word(where, chosen[kind] or "abort") end
    return function(conflict) return chosen[conflict.kind] end
  end
  local word = check_word(where, rule)
  -- Conflicts of these kinds have no row to replace.
  return function(conflict)
    if word == "replace" and (conflict.kind == "not_found" or conflict.kind == "constraint") then return "abort" end
    return word
  end
end

local function read_tables(names)
  if names == nil then return nil end
  return checks.names(place .. ": option `tables`", names, "table")
end

local function apply(handle, bytes, rule, tables)
  for _, name in ipairs(tables or {}) do native_schema.table(handle, name) end
  local applied, omitted, touched = changesets.apply(handle, bytes, rule, tables)
  -- SQLite does not notify observers when it applies the changes, so observations are notified here.
  if applied > 0 then
    native_observation.notify(handle, tables or touched)
    -- Triggers do not run either, so full-text tables are rebuilt.
    for _, name in ipairs(tables or touched) do full_text_synchronization.rebuild(handle, name) end
  end
  return applied, omitted
end

--- Applies a changeset in a transaction, or in a savepoint inside one: all of its changes or none.
-- @tparam ?table options `conflict`: "abort" (the default), "omit" or "replace", a table of these words by kind of conflict, or a
--   function that receives the conflict and returns one of them; `tables`: the names of the tables to change
-- @treturn integer the number of applied changes
-- @treturn integer the number of omitted changes
function public:apply_changes(changeset, options)
  local bytes = check_changeset(place .. ": argument 1", changeset)
  options = checks.options(place, options, { conflict = "any", tables = "any" })
  return databases.guarded(self, apply, bytes, read_rule(options.conflict), read_tables(options.tables))
end

return public
