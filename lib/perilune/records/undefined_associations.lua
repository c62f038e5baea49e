--- Definitions of associations for errors about names that no class has defined, from the foreign keys of the tables.

local native_records = require "perilune.native.records"
local native_schema = require "perilune.native.schema"
local sql_names = require "perilune.runtime.names"

local undefined_associations = {}

--- Returns the names that a table may have whose rows a name stands for: `books` for `book`, `book` for `books`.
local function table_names(name)
  return { name, name .. "s", name .. "es", (name:gsub("y$", "ies")), (name:gsub("s$", "")), (name:gsub("es$", "")), (name:gsub("ies$", "y")) }
end

local function refers(from, to)
  for _, key in ipairs(from.foreign_keys) do
    if sql_names.same(key.table, to.name) then return true end
  end
  return false
end

local function find(info, name)
  local db = native_records.default_database()
  local own = native_schema.table(db, info.table)
  for _, other_name in ipairs(table_names(name)) do
    local is_table, other = pcall(native_schema.table, db, other_name)
    local kind = is_table and (refers(own, other) and "belongs_to" or refers(other, own) and "has_many")
    if kind then return ("define the association with Class.%s = Class:%s(%q)"):format(name, kind, other.name) end
  end
end

--- Returns the definition of an association that a name stands for, as an instruction; nil if no foreign key fits.
-- @tparam table info the info of the class without the name
function undefined_associations.definition(info, name)
  if type(name) ~= "string" or not name:find("^[%a_][%w_]*$") then return nil end
  local is_found, definition = pcall(find, info, name)
  return is_found and definition or nil
end

return undefined_associations
