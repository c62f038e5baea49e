--- The SQL of indexes.

local sql_text = require "perilune.runtime.sql_text"

local index_text = {}

--- The name of an index that is given none.
function index_text.default_name(table_name, columns)
  return table_name .. "_on_" .. table.concat(columns, "_")
end

--- The SQL of an index.
-- @tparam table definition of the table: its `name`, and whether to be made only `if_not_exists`; `database`: the name of the schema it
--   is in, since SQLite looks for it only where the index is made
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
