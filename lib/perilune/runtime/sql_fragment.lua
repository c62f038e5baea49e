--- Pieces of SQL inside of definitions: conditions, defaults, expressions of indexes.

local perilune = require "perilune"
local errors = require "perilune.native.errors"
local marks = require "perilune.runtime.marks"
local checks = require "perilune.runtime.checks"
local sql_text = require "perilune.runtime.sql_text"

local sql_fragment = {}

--- What may begin something that is not plain: a text, a comment, a parameter, a parenthesis.
local mark_pattern = "()([%-/'\"`%[%(%)%?:@%$;])"

local closing = { ["'"] = "'", ['"'] = '"', ["`"] = "`", ["["] = "]" }

--- The position after something quoted or a comment that begins at a position; nil if it is neither.
local function skip(text, start, mark, place)
  if closing[mark] then
    local stop = text:find(closing[mark], start + 1, true)
    return stop and stop + 1 or checks.fail(place, "the SQL has a " .. mark .. " that is not closed")
  elseif text:find("^%-%-", start) then
    return (text:find("\n", start, true) or #text) + 1
  elseif text:find("^/%*", start) then
    local _, stop = text:find("*/", start + 2, true)
    return (stop or #text) + 1
  end
end

--- A value that would have to be bound: `?`, `:name`, `@name`, `$name`.
local function is_parameter(text, position, mark)
  if mark == "?" then return true end
  if not mark:find("[:@$]") or not text:find("^[%w_]", position + 1) then return false end
  -- Names may contain a $.
  return position == 1 or not text:find("^[%w_$\x80-\xff]", position - 1)
end

--- Checks that a text stays inside the parentheses that will be around it.
-- @param take_parameter what is called with the position of each value that is to be bound
local function check(text, place, take_parameter)
  local depth, position = 0, 1
  while true do
    local start, mark = text:match(mark_pattern, position)
    if not start then break end
    position = skip(text, start, mark, place) or start + 1
    if mark == "(" then depth = depth + 1 end
    if mark == ")" then depth = depth - 1 end
    if depth < 0 then checks.fail(place, "the SQL has a ) too many") end
    if mark == ";" then checks.fail(place, "the SQL must be one expression, without ;") end
    if is_parameter(text, start, mark) then take_parameter(start) end
  end
  if depth > 0 then checks.fail(place, "the SQL has a ( that is not closed") end
end

--- Checks SQL text and returns it.
function sql_fragment.text(text, place)
  if type(text) ~= "string" then checks.fail(place, "expected SQL as a string, got " .. errors.describe(text)) end
  if not text:find("%S") then checks.fail(place, "the SQL is empty") end
  if text:find("\0", 1, true) then checks.fail(place, "the SQL has a NUL byte") end
  check(text, place, function()
    checks.fail(place, "a schema has no values bound: write them into the SQL")
  end)
  -- A comment must not swallow what follows.
  return text:find("--", 1, true) and text .. "\n" or text
end

--- How many values a `?` stands for in SQL; parameters with numbers or names are refused.
function sql_fragment.count_parameters(text, place)
  local count = 0
  check(text, place, function(position)
    local written = text:match("^.[%w_]*", position)
    if written ~= "?" then checks.fail(place, "write `?` for each value, in the order of the values, not `" .. written .. "`") end
    count = count + 1
  end)
  return count
end

--- What functions in definitions are given for a table: `c.title` is its column.
local columns = setmetatable({}, {
  __name = "columns",
  __index = function(_, name) return perilune.column(name) end,
})

--- Writes values into SQL in place of its parameters, `?` or `?1`.
-- @tparam {any,...} values
function sql_fragment.with_values(sql, values)
  local parts, position, copied, count = {}, 1, 0, 0
  while true do
    local start, mark = sql:match(mark_pattern, position)
    if not start then break end
    position = skip(sql, start, mark, "SQL") or start + 1
    if mark == "?" then
      local number = sql:match("^%d*", position)
      count = count + 1
      parts[#parts + 1] = sql:sub(copied + 1, start - 1) .. sql_text.literal(values[tonumber(number) or count])
      copied = start + #number
      position = copied + 1
    end
  end
  return table.concat(parts) .. sql:sub(copied + 1)
end

--- The SQL of a condition or value: SQL text, an expression, or a function that gets the column, or all, and gives one of these.
-- @tparam ?string name the column; nil for a table
function sql_fragment.expression(value, place, name)
  if type(value) == "function" then
    value = value(name and perilune.column(name) or columns)
  end
  if marks.is_expression(value) then return marks.inline_sql(value) end
  if type(value) ~= "string" then
    checks.fail(place, "expected SQL as a string or an expression, got " .. errors.describe(value))
  end
  return sql_fragment.text(value, place)
end

return sql_fragment
