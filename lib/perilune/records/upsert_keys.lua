--- The unique keys by which an upsert finds the row that it updates.
--
-- The option `target` names a unique key. Without this option, any unique key of the table may conflict; if several do, SQLite chooses one.
-- If the record was read from a row or written to one, only its primary key counts, so that it updates that row.

local errors = require "perilune.native.errors"
local marks = require "perilune.runtime.marks"

local upsert_keys = {}

local function fail(schema, message, ...)
  errors.raise("argument", "upsert on `" .. schema.name .. "`: " .. message:format(...), { table = schema.name })
end

local function set_of(list)
  local set = {}
  for _, value in ipairs(list) do set[value] = true end
  return set
end

local function has_all(set, columns)
  for _, column in ipairs(columns) do
    if not set[column] then return false end
  end
  return #columns > 0
end

--- Raises if the option `target` contains an expression, either as an object or as SQL text.
-- @tparam ?{[string]=any} declared the columns of the table; nil if they are unknown
function upsert_keys.check_target(place, target, declared)
  local list = type(target) == "table" and not marks.is_expression(target) and target or { target }
  for _, part in ipairs(list) do
    if marks.is_expression(part) or declared and type(part) == "string" and not declared[part] and part:find "%(.*%)" then
      errors.raise("argument", ("%s: target: expected columns, got the expression `%s`; remove `target`, so that any unique key decides, also "
        .. "an index on an expression"):format(place, tostring(part)))
    end
  end
end

--- Returns the list of columns from an option: a name or a list of names, all of which must exist.
function upsert_keys.read_columns(details, option, value)
  if type(value) == "string" then value = { value } end
  if type(value) ~= "table" then fail(details.schema, "%s: expected columns, got %s", option, errors.describe(value)) end
  if option == "target" then upsert_keys.check_target("upsert on `" .. details.schema.name .. "`", value, details.declared) end
  for _, column in ipairs(value) do
    if not details.declared[column] then errors.raise_unknown_column(column, details.schema.name, details.columns) end
  end
  return value
end

--- Returns the unique keys without conditions, as lists of columns: the primary key first.
function upsert_keys.all(schema)
  return { schema.primary_key.columns, table.unpack(schema.unique_keys) }
end

local function list_keys(schema)
  local texts, known = {}, {}
  for _, columns in ipairs(upsert_keys.all(schema)) do
    local text = "(" .. table.concat(columns, ", ") .. ")"
    if #columns > 0 and not known[text] then texts[#texts + 1] = text end
    known[text] = true
  end
  return texts
end

local function raise_no_key(schema, message)
  errors.raise("argument", "upsert on `" .. schema.name .. "`: " .. message, { table = schema.name, unique_keys = upsert_keys.all(schema) })
end

--- Raises for a table without unique keys.
local function check_has_keys(schema)
  if schema.kind == "view" then raise_no_key(schema, "a view has no keys; use insert, update or SQL instead") end
  if #list_keys(schema) > 0 or schema.has_unlisted_keys then return end
  raise_no_key(schema, "the table has no unique key to conflict with; use insert, or add one "
    .. "(t:primary_key, or db:create_index with unique = true)")
end

--- Returns the columns of the option `target`. They must form a unique key, unless `target_where` gives the condition by which SQLite finds
-- a partial index.
local function named_target(details, options)
  local schema, columns = details.schema, upsert_keys.read_columns(details, "target", options.target)
  if options.target_where ~= nil then return columns end
  check_has_keys(schema)
  for _, key in ipairs(upsert_keys.all(schema)) do
    if #key == #columns and has_all(set_of(key), columns) then return columns end
  end
  local keys = list_keys(schema)
  raise_no_key(schema, ("(%s) is not a unique key; %sfor a partial index, give its condition as `target_where`")
    :format(table.concat(columns, ", "), #keys > 0 and "available: " .. table.concat(keys, ", ") .. "; " or ""))
end

--- Raises unless columns form a unique key, for statements that cannot name the condition of a partial index.
function upsert_keys.check_unique(place, schema, columns)
  for _, key in ipairs(upsert_keys.all(schema)) do
    if #key == #columns and has_all(set_of(key), columns) then return end
  end
  local keys = list_keys(schema)
  errors.raise("argument", ("%s: (%s) is not a unique key of `%s`; %s; without `target` any unique key decides, also a partial one"):format(
    place, table.concat(columns, ", "), schema.name, #keys > 0 and "available: " .. table.concat(keys, ", ") or "it has none for all rows"),
    { table = schema.name, unique_keys = upsert_keys.all(schema) })
end

--- Returns whether a row with values for some columns can conflict with another row.
local function can_conflict(details, is_given)
  if details.schema.has_unlisted_keys then return true end
  local is_set = {}
  for name, column in pairs(details.declared) do
    is_set[name] = is_given[name] or column.default ~= nil or column.generated ~= nil
  end
  for _, key in ipairs(upsert_keys.all(details.schema)) do
    if has_all(is_set, key) then return true end
  end
  return false
end

--- Returns whether a table has only one unique key.
local function is_only_key(schema)
  return not schema.has_unlisted_keys and #list_keys(schema) == 1
end

--- Returns the columns of the unique key by which an upsert may conflict, or an empty list if this may be any key; and whether the record
-- can conflict with a row at all.
-- @tparam {string,...} given the columns for which the record has a value
-- @tparam boolean has_row whether the record was read from a row or written to one
function upsert_keys.target(details, given, options, has_row)
  local schema, is_given = details.schema, set_of(given)
  if options.target == nil then
    if options.target_where ~= nil then fail(schema, "`target_where` is the condition of a `target`, which is missing") end
    check_has_keys(schema)
    local key = schema.primary_key.columns
    if (has_row or is_only_key(schema)) and has_all(is_given, key) then return key, true end
    return {}, can_conflict(details, is_given)
  end
  local target = named_target(details, options)
  for _, column in ipairs(target) do
    if not is_given[column] then fail(schema, "the record has no value for `%s`, a column of the target", column) end
  end
  return target, true
end

--- Returns the unique keys by which an upsert may conflict, for code that searches for the conflicting row itself. Raises if a key cannot
-- be compared by columns.
function upsert_keys.searched(details, options, has_row)
  local schema, target = details.schema, options and options.target
  if target ~= nil then return { type(target) == "table" and target or { target } } end
  if has_row and #schema.primary_key.columns > 0 then return { schema.primary_key.columns } end
  local obstacle = schema.has_unlisted_keys and "a unique index of the table is partial or on expressions"
    or #details.description.key == 0 and #schema.unique_keys > 1 and "the table has several unique keys but no primary key"
  if obstacle then
    fail(schema, "the class overrides verbs or counts rows, so that the conflicting row must be found first, and %s; name a unique key, "
      .. "for example target = %q", obstacle, schema.primary_key.columns[1] or (schema.unique_keys[1] or { "column" })[1])
  end
  return upsert_keys.all(schema)
end

--- Returns the message for a value of the option `update` that is neither one of its words nor a table.
function upsert_keys.mistaken_update(update)
  return "update: expected \"all\", \"none\", or a table of columns and values, got " .. errors.describe(update)
    .. (type(update) == "function" and "; use { column = Class.c.column + 1 }, or perilune.excluded.column for the new value" or "")
end

return upsert_keys
