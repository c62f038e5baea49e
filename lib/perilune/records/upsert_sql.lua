--- The clause that makes an INSERT an upsert: ON CONFLICT (target) DO UPDATE SET ...

local errors = require "perilune.native.errors"
local marks = require "perilune.runtime.marks"
local fields = require "perilune.records.fields"
local sql_fragment = require "perilune.runtime.sql_fragment"

local upsert_sql = {}

local function fail(schema, message, ...)
  errors.raise("argument", "upsert on `" .. schema.name .. "`: " .. message:format(...), { table = schema.name })
end

local function set_of(list)
  local set = {}
  for _, value in ipairs(list) do set[value] = true end
  return set
end

--- A list of columns from an option: a name or a list of names, each of which must exist.
local function read_columns(info, option, value)
  if type(value) == "string" then value = { value } end
  if type(value) ~= "table" then fail(info.schema, "%s: expected columns, got %s", option, errors.describe(value)) end
  for _, column in ipairs(value) do
    if not info.declared[column] then errors.raise_unknown_column(column, info.schema.name, info.columns) end
  end
  return value
end

-- MARK: - The target

local function list_keys(schema)
  local keys, texts, known = { schema.primary_key.columns, table.unpack(schema.unique_keys) }, {}, {}
  for _, columns in ipairs(keys) do
    local text = "(" .. table.concat(columns, ", ") .. ")"
    if #columns > 0 and not known[text] then texts[#texts + 1] = text end
    known[text] = true
  end
  return texts, keys
end

local function is_same_set(left, right)
  if #left ~= #right then return false end
  local set = set_of(left)
  for _, value in ipairs(right) do
    if not set[value] then return false end
  end
  return true
end

--- The columns of the target, which must be those of a unique key, unless they have a condition: SQLite finds a partial index.
local function read_target(info, target, condition)
  local schema = info.schema
  if condition ~= nil then
    if target == nil then fail(schema, "`target_where` is the condition of a `target`, which is missing") end
    return read_columns(info, "target", target)
  end
  local columns = target == nil and schema.primary_key.columns or read_columns(info, "target", target)
  local texts, keys = list_keys(schema)
  for _, key in ipairs(keys) do
    if #key > 0 and is_same_set(key, columns) then return columns end
  end
  local message = schema.kind == "view" and "a view has no keys; use insert, update or SQL instead"
    or #texts == 0 and "the table has no unique key to conflict with; use insert, or add one "
      .. "(t:primary_key, or db:create_index with unique = true)"
    or ("(%s) is not a unique key; available: %s; for a partial index, give its condition as `target_where`")
      :format(table.concat(columns, ", "), table.concat(texts, ", "))
  errors.raise("argument", "upsert on `" .. schema.name .. "`: " .. message, { table = schema.name, unique_keys = keys })
end

-- MARK: - What is assigned

--- Adds an assignment that an option asks for by name; the key and the target say which row it is, and stay.
local function check_assigned(info, fixed, column)
  if not info.declared[column] then errors.raise_unknown_column(column, info.schema.name, info.columns) end
  if fixed[column] then fail(info.schema, "`%s` identifies the row, and cannot be updated", column) end
  if info.generated[column] then fail(info.schema, "`%s` is generated, and cannot be updated", column) end
end

--- Columns that are taken from the values to be inserted, unless the option `update` names others.
local function default_columns(info, given, fixed, except)
  local columns = {}
  for _, column in ipairs(given) do
    if not fixed[column] and not except[column] and not info.generated[column] then columns[#columns + 1] = column end
  end
  return columns
end

local function excluded(info, column)
  local name = fields.sql_name(info.schema, column)
  return name .. " = excluded." .. name
end

--- Adds what the option `update` says: a list of columns, and values by name.
local function add_updates(info, fixed, update, assignments, bound)
  local names = {}
  for key, value in pairs(update) do
    local column = math.type(key) == "integer" and value or key
    check_assigned(info, fixed, column)
    if column == key then names[#names + 1] = column end
  end
  for _, column in ipairs(update) do assignments[#assignments + 1] = excluded(info, column) end
  table.sort(names)
  for _, column in ipairs(names) do
    if marks.is_expression(update[column]) then
      assignments[#assignments + 1] = fields.sql_name(info.schema, column) .. " = " .. marks.inline_sql(update[column])
    else
      assignments[#assignments + 1] = fields.sql_name(info.schema, column) .. " = ?"
      bound[#bound + 1] = { column = column, value = update[column] }
    end
  end
end

--- Adds what the option `set` says: SQL by column.
local function add_sql(info, fixed, set, assignments)
  if type(set) ~= "table" then fail(info.schema, "set: expected a table of SQL, got %s", errors.describe(set)) end
  local names = {}
  for column in pairs(set) do
    check_assigned(info, fixed, column)
    names[#names + 1] = column
  end
  table.sort(names)
  for _, column in ipairs(names) do
    local sql = sql_fragment.expression(set[column], "set: `" .. column .. "`")
    assignments[#assignments + 1] = fields.sql_name(info.schema, column) .. " = (" .. sql .. ")"
  end
end

local function read_assignments(info, given, target, options)
  local fixed, assignments, bound = set_of(target), {}, {}
  for _, column in ipairs(info.schema.primary_key.columns) do fixed[column] = true end
  local update = options.update
  if type(update) == "table" then
    add_updates(info, fixed, update, assignments, bound)
  elseif update == nil or update == "all" then
    local except = set_of(options.except and read_columns(info, "except", options.except) or {})
    for column in pairs(type(options.set) == "table" and options.set or {}) do except[column] = true end
    for _, column in ipairs(default_columns(info, given, fixed, except)) do
      assignments[#assignments + 1] = excluded(info, column)
    end
  else
    fail(info.schema, "update: expected \"all\", \"none\", or a table of columns and values, got %s", errors.describe(update))
  end
  if options.set ~= nil then add_sql(info, fixed, options.set, assignments) end
  -- Without any, no row would come back.
  if #assignments == 0 then assignments[1] = fields.sql_name(info.schema, target[1]) .. " = " .. fields.sql_name(info.schema, target[1]) end
  return table.concat(assignments, ", "), bound
end

--- The condition: SQL, or a list of SQL and its arguments, or an expression.
local function read_condition(info, where, bound)
  if marks.is_expression(where) then return " WHERE " .. marks.inline_sql(where) end
  local list = type(where) == "table" and where or { where }
  if type(list[1]) ~= "string" then
    fail(info.schema, "where: expected SQL, or a list of SQL and its arguments, got %s", errors.describe(where))
  end
  local wanted = sql_fragment.count_parameters(list[1], "upsert on `" .. info.schema.name .. "`: where")
  local count = (list.n or #list) - 1
  if count ~= wanted then
    fail(info.schema, "where: the SQL has %d `?`, and %s given; use where = { \"count < ?\", 3 }%s", wanted,
      count == 1 and "1 value is" or count .. " values are", count < wanted and count > 0 and " (perilune.null for NULL)" or "")
  end
  for index = 2, count + 1 do bound[#bound + 1] = { value = list[index] } end
  return " WHERE (" .. list[1] .. "\n)"
end

-- MARK: - The statement

--- The target as SQL.
local function conflict_target(info, target, condition)
  local columns = "(" .. fields.sql_names(info.schema, target) .. ")"
  if condition == nil then return columns end
  return columns .. " WHERE (" .. sql_fragment.expression(condition, "target_where") .. ")"
end

local function read_action(info, given, target, options)
  if options.update == "none" then
    for _, option in ipairs{ "where", "except", "set" } do
      if options[option] ~= nil then fail(info.schema, "`%s` has no effect when nothing is updated", option) end
    end
    return "DO NOTHING", {}
  end
  local assignments, bound = read_assignments(info, given, target, options)
  local condition = options.where ~= nil and read_condition(info, options.where, bound) or ""
  return "DO UPDATE SET " .. assignments .. condition, bound
end

--- Whether the record can meet a row at all: it has a value for each column of the target. Without a key it is inserted.
local function has_target(info, target, is_given, options)
  for _, column in ipairs(target) do
    if not is_given[column] then
      if options.target == nil then return false end
      fail(info.schema, "the record has no value for `%s`, a column of the target", column)
    end
  end
  return true
end

--- Makes the clause.
-- @param info what is known of the table
-- @tparam {string,...} given the columns that the record has a value for, in order
-- @return the SQL; its parameters: a list of `value` and, unless it is one of the condition, `column`. Nothing if the record is to be
--   inserted.
function upsert_sql.make(info, given, options)
  local target, is_given = read_target(info, options.target, options.target_where), set_of(given)
  if not has_target(info, target, is_given, options) then return nil end
  local action, bound = read_action(info, given, target, options)
  return ("ON CONFLICT %s %s"):format(conflict_target(info, target, options.target_where), action), bound
end

return upsert_sql
