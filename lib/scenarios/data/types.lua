--- The types of a project's tables for editors (LuaCATS), generated from its schema: `schema.d.lua`.

local native_observation = require "perilune.native.observation"
local native_records = require "perilune.native.records"
local introspection = require "perilune.schema.introspection"
local display = lazily "scenarios.reports.display"

local scenario_types = {}

local by_content = { boolean = "boolean", day = "perilune.date", date = "perilune.date" }
local by_affinity = { integer = "integer", text = "string", real = "number" }

--- Returns the values that a CHECK of the table allows for a column, as a union of literals; nil if none exists.
local function checked_values(sql, column)
  local name = column:gsub("%p", "%%%0")
  local list = sql:match('[%(%s"]' .. name .. '"?%s+[iI][nN]%s*(%b())')
  if not list then return nil end
  local values = {}
  for text in list:gmatch("'([^']*)'") do values[#values + 1] = ("%q"):format(text) end
  return #values > 0 and table.concat(values, "|") or nil
end

--- Returns the type of values read from a column.
local function type_of(column, sql)
  local named = by_content[column.content] or checked_values(sql, column.name) or by_affinity[column.affinity]
  return named or column.content == "blob" and "string" or "any"
end

local function field_name(name)
  return name:find("^[%a_][%w_]*$") and name or ("[%q]"):format(name)
end

--- Adds the comments that declare a class with its columns.
local function add_class(lines, title, class, columns, describe)
  if #lines > 0 then lines[#lines + 1] = "" end
  lines[#lines + 1] = "---" .. title
  lines[#lines + 1] = "---@class (exact) " .. class
  for _, column in ipairs(columns) do
    local is_optional, kind = describe(column)
    if kind then lines[#lines + 1] = ("---@field %s%s %s"):format(field_name(column.name), is_optional and "?" or "", kind) end
  end
end

local function links(db, name)
  local parts = {}
  for _, key in ipairs(db:foreign_keys(name)) do
    parts[#parts + 1] = ("%s refers to %s"):format(table.concat(key.columns, ", "), key.table)
  end
  return #parts > 0 and " " .. table.concat(parts, "; ") .. "." or ""
end

--- The types of requests for a table's records.
local request_lines = {
  "", "---The requests for records of TABLE.", "---@class perilune.request.TABLE: perilune.request",
  "---@field find fun(self: perilune.request.TABLE, key?: KEY|table): perilune.record.TABLE",
  "---@field find fun(self: perilune.request.TABLE, db: perilune.database, key?: KEY|table): perilune.record.TABLE",
  "---@field fetch_one fun(self: perilune.request.TABLE, db?: perilune.database): perilune.record.TABLE?",
  "---@field fetch_all fun(self: perilune.request.TABLE, db?: perilune.database): perilune.record.TABLE[]",
  "---@field rows fun(self: perilune.request.TABLE, db?: perilune.database): (fun(): perilune.record.TABLE?)",
  "---@field in_batches fun(self: perilune.request.TABLE, size: integer): (fun(): perilune.record.TABLE[]?)",
  "---@field in_batches fun(self: perilune.request.TABLE, db: perilune.database, size: integer): (fun(): perilune.record.TABLE[]?)",
  "---@field build fun(self: perilune.request.TABLE, fields?: perilune.new.TABLE): perilune.record.TABLE",
  "---@field insert fun(self: perilune.request.TABLE, fields: perilune.new.TABLE, options?: perilune.write_options): perilune.record.TABLE",
  "---@field insert fun(self: perilune.request.TABLE, db: perilune.database, fields: perilune.new.TABLE, options?: perilune.write_options): perilune.record.TABLE",
  "---@field find_or_build fun(self: perilune.request.TABLE, key: perilune.new.TABLE, others?: perilune.new.TABLE): (perilune.record.TABLE, boolean)",
  "---@field find_or_insert fun(self: perilune.request.TABLE, key: perilune.new.TABLE, others?: perilune.new.TABLE): (perilune.record.TABLE, boolean)",
}

--- The types of a table's class and of its maker in scenarios.
local class_lines = {
  "", "---The class of the records of TABLE.", "---@class perilune.class.TABLE: perilune.request.TABLE, perilune.record_class",
  "---@overload fun(fields?: perilune.new.TABLE): perilune.record.TABLE",
  "---@field c perilune.columns.TABLE",
  "---@field find fun(self: perilune.class.TABLE, key: KEY|table): perilune.record.TABLE",
  "---@field find fun(self: perilune.class.TABLE, db: perilune.database, key: KEY|table): perilune.record.TABLE",
  "---@field fetch_one fun(self: perilune.class.TABLE, ...: any): perilune.record.TABLE?",
  "---@field fetch_all fun(self: perilune.class.TABLE, ...: any): perilune.record.TABLE[]",
  "---@field rows fun(self: perilune.class.TABLE, ...: any): (fun(): perilune.record.TABLE?)",
  "---@field insert fun(self: perilune.class.TABLE, fields: perilune.new.TABLE|perilune.record.TABLE, options?: perilune.write_options): perilune.record.TABLE",
  "---@field insert fun(self: perilune.class.TABLE, db: perilune.database, fields: perilune.new.TABLE|perilune.record.TABLE, options?: perilune.write_options): perilune.record.TABLE",
  "---@field upsert fun(self: perilune.class.TABLE, fields: perilune.new.TABLE|perilune.record.TABLE, options?: perilune.upsert_options): perilune.record.TABLE",
  "---@field upsert fun(self: perilune.class.TABLE, db: perilune.database, fields: perilune.new.TABLE|perilune.record.TABLE, options?: perilune.upsert_options): perilune.record.TABLE",
  "---@field unscoped fun(self: perilune.class.TABLE): perilune.request.TABLE",
  "", "---@class perilune.maker.TABLE",
  "---@overload fun(fields?: perilune.new.TABLE): perilune.record.TABLE",
  "---@field many fun(self: perilune.maker.TABLE, count: integer, fields?: perilune.new.TABLE): perilune.record.TABLE[]",
}

--- Methods of requests that do not return requests for records of the same class.
local other_results = { select = true }

--- Returns the names of the methods that derive a request for the same records.
local function derivations()
  require "perilune.request_assembly"
  local request, names = require "perilune.requests.request", {}
  for name in pairs(request.derivations) do
    if not other_results[name] then names[#names + 1] = name end
  end
  for _, name in ipairs{ "union", "union_all", "intersect", "except" } do names[#names + 1] = name end
  table.sort(names)
  return names
end

local function add_table(lines, db, name, class)
  local sql = db:fetch_value("SELECT sql FROM sqlite_schema WHERE name = ?", name) or ""
  local columns, key_types = introspection.declared_columns(db, name), {}
  local title = ("A record of %s.%s"):format(name, links(db, name))
  add_class(lines, title, ("perilune.record.%s: perilune.record_methods"):format(class), columns, function(column)
    if column.primary_key then key_types[#key_types + 1] = type_of(column, sql) end
    return not column.not_null and not column.primary_key, type_of(column, sql)
  end)
  title = ("The values of a new record of %s; omitted columns get their defaults."):format(name)
  add_class(lines, title, "perilune.new." .. class, columns, function(column)
    if column.generated then return nil end
    local kind = type_of(column, sql)
    if kind == "perilune.date" then kind = "perilune.date|string" end
    return true, column.not_null and kind or kind .. "|perilune.null"
  end)
  add_class(lines, ("The columns of %s in requests."):format(name), "perilune.columns." .. class, columns, function()
    return false, "perilune.expression"
  end)
  local key = #key_types == 1 and key_types[1] or "table"
  local function add(line) lines[#lines + 1] = (line:gsub("%u+", { TABLE = class, KEY = key })) end
  for _, line in ipairs(request_lines) do add(line) end
  for _, derivation in ipairs(derivations()) do
    add(("---@field %s fun(self: perilune.request.TABLE, ...: any): perilune.request.TABLE"):format(derivation))
  end
  for _, line in ipairs(class_lines) do add(line) end
end

--- Returns the names of usable tables and views that are valid class names, without the internal tables of virtual tables.
local function names_of(db)
  local names = {}
  for _, name in ipairs(db:fetch_values([[
    SELECT name FROM sqlite_schema
    WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
      AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow') ORDER BY name]])) do
    local is_class_name = name:find("^[%a_][%w_]*$") and not native_observation.is_own_table(name)
    if is_class_name and pcall(introspection.declared_columns, db, name) then names[#names + 1] = name end
  end
  return names
end

local function add_members(lines, class, names, kind)
  lines[#lines + 1] = ""
  lines[#lines + 1] = "---@class " .. class
  for _, name in ipairs(names) do lines[#lines + 1] = ("---@field %s %s"):format(name, kind:gsub("TABLE", name)) end
end

--- Adds the function `perilune.record`, whose result depends on the name of the table.
local function add_record_function(lines, names)
  lines[#lines + 1] = ""
  for _, name in ipairs(names) do
    lines[#lines + 1] = ('---@overload fun(table_name: "%s", options?: perilune.record_options): perilune.class.%s'):format(name, name)
  end
  for _, line in ipairs{
    "---@param table_name string", "---@param options? perilune.record_options", "---@return perilune.record_class",
    "function perilune.record(table_name, options) end",
  } do lines[#lines + 1] = line end
end

--- Returns the text of the file.
-- @tparam {string,...} fixtures the names of the fixtures
function scenario_types.text(db, fixtures)
  local lines = { "---@meta _", "-- Generated from the schema by Perilune; do not edit." }
  local names = names_of(db)
  for _, name in ipairs(names) do add_table(lines, db, name, name) end
  add_members(lines, "perilune.db", names, "perilune.class.TABLE")
  add_members(lines, "perilune.given", names, "fun(rows: string|perilune.new.TABLE|perilune.new.TABLE[]): perilune.record.TABLE[]")
  add_members(lines, "perilune.make", names, "perilune.maker.TABLE")
  add_members(lines, "perilune.fixtures", fixtures, "any")
  add_record_function(lines, names)
  return table.concat(lines, "\n") .. "\n"
end

--- Returns the types of everything that this state has loaded, for its database.
function scenario_types.of_project()
  return scenario_types.text(native_records.default_database(), display.keys(require("scenarios.defining.definitions").fixtures))
end

return scenario_types
