--- The SQL of indexes.

local sql_text = require "perilune.runtime.sql_text"

local index_text = {}

--- Returns the default name of an index.
function index_text.default_name(table_name, columns)
  return table_name .. "_on_" .. table.concat(columns, "_")
end

--- Returns the SQL of an index.
-- @tparam table definition `name`, the table's name; `if_not_exists`; `database`, the schema of the table, in which the index must be
--   created, because SQLite does not look for the table elsewhere
-- @tparam {string,...} columns
-- @tparam ?table options `name`, `unique`, `terms` (SQL instead of the columns), `where`
function index_text.sql(definition, columns, options)
  options = options or {}
  local name = options.name or index_text.default_name(definition.name, columns)
  local is_attached = definition.database and definition.database ~= "main" and definition.database ~= "temp"
  return (options.unique and "CREATE UNIQUE INDEX " or "CREATE INDEX ") .. (definition.if_not_exists and "IF NOT EXISTS " or "")
    .. (is_attached and sql_text.name(definition.database) .. "." or "") .. sql_text.name(name) .. " ON " .. sql_text.name(definition.name) .. "(" .. (options.terms or sql_text.names(columns)) .. ")"
    .. (options.where and " WHERE " .. options.where or "")
end

return index_text
