--- Creating and dropping views: methods of databases.

local errors = require "perilune.native.errors"
local marks = require "perilune.runtime.marks"
local sql_text = require "perilune.runtime.sql_text"
local checks = require "perilune.runtime.checks"
local sql_fragment = require "perilune.runtime.sql_fragment"

--- The functions that scripts call.
local public = {}

--- Returns the SQL of a query: text without parameters, or a request, whose values are written into it.
local function query_sql(db, query, place)
  if marks.is_request(query) then return sql_fragment.with_values(query:sql(db)) end
  if type(query) ~= "string" then
    checks.fail(place, "argument 2: expected SQL as a string or a request, got " .. errors.describe(query)
      .. "; use db:create_view(\"name\", \"SELECT ...\")")
  end
  if query:find("^%s*[%w_]+%s*$") then
    checks.fail(place, ("argument 2: expected a query, got %q; use \"SELECT * FROM %s\""):format(query, query:match("[%w_]+")))
  elseif query:find("^%s*[Cc][Rr][Ee][Aa][Tt][Ee]%s") then
    checks.fail(place, "argument 2: expected the query alone, as in \"SELECT ...\"; db:execute(sql) runs CREATE VIEW")
  end
  return sql_fragment.text(query, place .. ": argument 2")
end

--- Creates a view: `db:create_view("long_book", "SELECT * FROM book WHERE pages > 1000")`.
-- @tparam string name
-- @param query SQL text or a request
-- @tparam ?table options `columns`: their names; `temporary`, `if_not_exists`
function public:create_view(name, query, options)
  local place = "db:create_view"
  local quoted = sql_text.name(name, place .. ": argument 1")
  local sql = query_sql(self, query, place)
  options = checks.options(place, options, { columns = "any", temporary = "boolean", if_not_exists = "boolean" })
  local columns = ""
  if options.columns ~= nil then
    columns = " (" .. sql_text.names(checks.names(place .. ": option `columns`", options.columns), place) .. ")"
  end
  self:execute((options.temporary and "CREATE TEMPORARY VIEW " or "CREATE VIEW ")
    .. (options.if_not_exists and "IF NOT EXISTS " or "") .. quoted .. columns .. " AS " .. sql)
end

--- Drops a view.
-- @tparam ?table options `if_exists`: no error if the view does not exist
function public:drop_view(name, options)
  local place = "db:drop_view"
  local quoted = sql_text.name(name, place .. ": argument 1")
  options = checks.options(place, options, { if_exists = "boolean" })
  if self:view_exists(name) then
    self:execute("DROP VIEW " .. quoted)
  elseif self:table_exists(name) then
    checks.refuse(place, "`" .. name .. "` is a table; use db:drop_table")
  elseif not options.if_exists then
    errors.raise_unknown("view", name, self:views())
  end
end

return public
