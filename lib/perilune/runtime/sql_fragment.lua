--- Pieces of SQL inside definitions: conditions, defaults, expressions of indexes.

local perilune = require "perilune"
local errors = require "perilune.native.errors"
local native_sql = require "perilune.native.sql"
local marks = require "perilune.runtime.marks"
local checks = require "perilune.runtime.checks"
local sql_text = require "perilune.runtime.sql_text"

local sql_fragment = {}

--- Returns the positions of the placeholders in a text: alternately their beginning and end. Raises if the text could end the parentheses
-- that will enclose it, or is incomplete.
local function placeholders(text, place)
  local places, flaw = native_sql.placeholders(text)
  return places or checks.fail(place, "the SQL contains " .. flaw)
end

--- Checks SQL text and returns it.
function sql_fragment.text(text, place)
  if type(text) ~= "string" then checks.fail(place, "expected SQL as a string, got " .. errors.describe(text)) end
  if not text:find("%S") then checks.fail(place, "the SQL is empty") end
  if text:find("\0", 1, true) then checks.fail(place, "the SQL contains a NUL byte") end
  if placeholders(text, place)[1] then checks.fail(place, "a schema cannot bind values; put them in the SQL text") end
  -- A line break ends a comment, which would otherwise hide the SQL that follows.
  return text:find("--", 1, true) and text .. "\n" or text
end

--- Returns the number of values for the `?` placeholders in SQL; rejects parameters with numbers or names.
function sql_fragment.count_parameters(text, place)
  local places = placeholders(text, place)
  for index = 1, #places, 2 do
    local written = text:sub(places[index], places[index + 1])
    if written ~= "?" then checks.fail(place, "use `?` for each value, in their order, instead of `" .. written .. "`") end
  end
  return #places // 2
end

--- The argument `c` of functions in table definitions: `c.title` is a column of the table.
local columns = setmetatable({}, {
  __name = "columns",
  __index = function(_, name) return perilune.column(name) end,
})

--- Writes values into SQL in place of its parameters, `?` or `?1`.
-- @tparam {any,...} values
function sql_fragment.with_values(sql, values)
  local parts, copied, places = {}, 0, placeholders(sql, "SQL")
  for index = 1, #places, 2 do
    local start, stop = places[index], places[index + 1]
    local number = tonumber(sql:sub(start + 1, stop)) or index // 2 + 1
    parts[#parts + 1] = sql:sub(copied + 1, start - 1) .. sql_text.literal(values[number])
    copied = stop
  end
  return table.concat(parts) .. sql:sub(copied + 1)
end

--- Returns the SQL of a condition or value: SQL text, an expression, or a function that receives the column or columns and returns
-- one of these.
-- @tparam ?string name the column; nil to pass all columns
-- @tparam ?function form_of returns how a column stores dates, by its name (see stored_dates.lua)
function sql_fragment.expression(value, place, name, form_of)
  if type(value) == "function" then
    value = value(name and perilune.column(name) or columns)
  end
  if marks.is_expression(value) then return marks.inline_sql(form_of and marks.resolve_dates(value, form_of) or value) end
  if type(value) ~= "string" then
    checks.fail(place, "expected SQL as a string or an expression, got " .. errors.describe(value))
  end
  return sql_fragment.text(value, place)
end

return sql_fragment
