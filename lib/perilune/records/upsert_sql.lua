--- The clause that makes an INSERT an upsert: ON CONFLICT (target) DO UPDATE SET ...

local errors = require "perilune.native.errors"
local perilune = require "perilune"
local marks = require "perilune.runtime.marks"
local record_fields = require "perilune.records.fields"
local sql_fragment = require "perilune.runtime.sql_fragment"
local upsert_keys = require "perilune.records.upsert_keys"
local upsert_rules = require "perilune.records.upsert_rules"

local upsert_sql = {}

local function fail(schema, message, ...)
  errors.raise("argument", "upsert on `" .. schema.name .. "`: " .. message:format(...), { table = schema.name })
end

local function set_of(list)
  local set = {}
  for _, value in ipairs(list) do set[value] = true end
  return set
end

-- MARK: - Assignments

-- The assignments of an upsert: a list of SQL texts; `bound`, their parameters; `named`, the assigned columns; `fixed`, the columns that
-- identify the row and are not changed; and the `rules` of the class's behaviors.

--- Returns an expression as SQL. Its columns refer to the existing row, columns of perilune.excluded to the new row.
local function inline(details, expression)
  return marks.inline_sql(expression, function(column)
    if not details.declared[column] then errors.raise_unknown_column(column, details.schema.name, details.columns) end
    return "excluded." .. record_fields.sql_name(details.schema, column)
  end)
end

--- Assigns SQL to a column.
local function assign(assigned, column, sql)
  assigned[#assigned + 1] = record_fields.sql_name(assigned.info.schema, column) .. " = " .. sql
  assigned.named[column] = true
end

--- Assigns the value that was to be inserted.
local function assign_excluded(assigned, column)
  assign(assigned, column, "excluded." .. record_fields.sql_name(assigned.info.schema, column))
end

--- Raises if a column named by an option cannot be updated.
local function check_named(assigned, column)
  local details = assigned.info
  if not details.declared[column] then errors.raise_unknown_column(column, details.schema.name, details.columns) end
  if assigned.fixed[column] then fail(details.schema, "`%s` identifies the row, and cannot be updated", column) end
  if details.generated[column] then fail(details.schema, "`%s` is generated, and cannot be updated", column) end
  upsert_rules.check_named(assigned.rules, "upsert", details.schema.name, column)
end

--- Adds the columns that are set to the inserted values, unless the option `update` names others.
local function add_all(assigned, given, except)
  local details = assigned.info
  for _, column in ipairs(given) do
    local stays = assigned.fixed[column] or assigned.rules.kept[column] or except[column] or assigned.defaulted[column]
      or details.generated[column] or column == assigned.rules.updated
    if not stays then assign_excluded(assigned, column) end
  end
end

--- Adds the assignments of the option `update`: a list of columns, and values by name.
local function add_updates(assigned, update)
  local names, info = {}, assigned.info
  for key, value in pairs(update) do
    local column = math.type(key) == "integer" and value or key
    check_named(assigned, column)
    if column == key then names[#names + 1] = column end
  end
  for _, column in ipairs(update) do assign_excluded(assigned, column) end
  table.sort(names)
  for _, column in ipairs(names) do
    if marks.is_expression(update[column]) then
      assign(assigned, column, inline(info, update[column]))
    else
      assign(assigned, column, "?")
      assigned.bound[#assigned.bound + 1] = { column = column, value = update[column] }
    end
  end
end

--- Adds the assignments that behaviors require for every update of a row: the version is incremented, and the time of the last change is
-- set.
local function add_behaviours(assigned, is_given)
  local version, updated = assigned.rules.version, assigned.rules.updated
  if version and not assigned.named[version] then assign(assigned, version, record_fields.sql_name(assigned.info.schema, version) .. " + 1") end
  if updated and is_given[updated] and not assigned.named[updated] and not assigned.fixed[updated] then
    assign(assigned, updated, "?")
    assigned.bound[#assigned.bound + 1] = { column = updated, value = perilune.now() }
  end
end

--- Returns a column that can be assigned to itself.
local function any_column(details, given)
  for _, column in ipairs(details.schema.primary_key.columns) do return column end
  for _, column in ipairs(given) do
    if not details.generated[column] then return column end
  end
end

--- @tparam {string,...} target the columns of the unique key; none if any key may conflict
local function read_assignments(details, given, target, options, defaulted)
  local assigned = {
    info = details, rules = upsert_rules.of(details.description.class), fixed = set_of(target), defaulted = defaulted, named = {}, bound = {},
  }
  for _, column in ipairs(details.schema.primary_key.columns) do assigned.fixed[column] = true end
  local update = options.update
  if type(update) == "table" then
    if options.except ~= nil then fail(details.schema, "`except` has no effect when `update` lists the columns") end
    add_updates(assigned, update)
  elseif update == nil or update == "all" then
    add_all(assigned, given, set_of(options.except and upsert_keys.read_columns(details, "except", options.except) or {}))
  else
    fail(details.schema, "%s", upsert_keys.mistaken_update(update))
  end
  add_behaviours(assigned, set_of(given))
  -- Assigns a column to itself, because RETURNING would return no row without an assignment.
  if #assigned == 0 then
    local column = any_column(details, given)
    assign(assigned, column, record_fields.sql_name(details.schema, column))
  end
  return table.concat(assigned, ", "), assigned.bound
end

--- Returns the condition from SQL, a list of SQL and its arguments, or an expression.
local function read_condition(details, where, bound)
  if marks.is_expression(where) then return " WHERE " .. inline(details, where) end
  local list = type(where) == "table" and where or { where }
  if type(list[1]) ~= "string" then
    fail(details.schema, "where: expected SQL, or a list of SQL and its arguments, got %s", errors.describe(where))
  end
  local wanted = sql_fragment.count_parameters(list[1], "upsert on `" .. details.schema.name .. "`: where")
  local count = (list.n or #list) - 1
  if count ~= wanted then
    fail(details.schema, "where: the SQL has %d `?`, and %s given; use where = { \"count < ?\", 3 }%s", wanted,
      count == 1 and "1 value is" or count .. " values are", count < wanted and count > 0 and " (perilune.null for NULL)" or "")
  end
  for index = 2, count + 1 do bound[#bound + 1] = { value = list[index] } end
  return " WHERE (" .. list[1] .. "\n)"
end

-- MARK: - The statement

--- Returns the conflict target as SQL; empty text without a target.
local function conflict_target(details, target, condition)
  if #target == 0 then return "" end
  local columns = " (" .. record_fields.sql_names(details.schema, target) .. ")"
  if condition == nil then return columns end
  return columns .. " WHERE (" .. sql_fragment.expression(condition, "upsert on `" .. details.schema.name .. "`: target_where") .. ")"
end

local function read_action(details, given, target, options, defaulted)
  if options.update == "none" then
    for _, option in ipairs{ "where", "except" } do
      if options[option] ~= nil then fail(details.schema, "`%s` has no effect when nothing is updated", option) end
    end
    return "DO NOTHING", {}
  end
  local assignments, bound = read_assignments(details, given, target, options, defaulted)
  local condition = options.where ~= nil and read_condition(details, options.where, bound) or ""
  return "DO UPDATE SET " .. assignments .. condition, bound
end

--- Creates the ON CONFLICT clause.
-- @param details the column details of the table
-- @tparam {string,...} given the columns for which the record has a value, in order
-- @tparam boolean has_row whether the record was read from a row or written to one
-- @tparam ?{[string]=boolean} defaulted the columns whose value is a default, not a value given by the script
-- @return the SQL; the list of its parameters, each with `value` and, except for parameters of the condition, `column`. Returns nothing if
--   the record cannot conflict with a row, so that a plain INSERT suffices.
function upsert_sql.make(details, given, options, has_row, defaulted)
  local target, can_conflict = upsert_keys.target(details, given, options, has_row)
  local action, bound = read_action(details, given, target, options, defaulted or {})
  if not can_conflict then return nil end
  return ("ON CONFLICT%s %s"):format(conflict_target(details, target, options.target_where), action), bound
end

return upsert_sql
