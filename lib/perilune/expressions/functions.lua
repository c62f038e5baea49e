--- SQL functions as methods of expressions, including full-text search and aggregates.

local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local native_schema = require "perilune.native.schema"
local marks = require "perilune.runtime.marks"
local raise = errors.raise
local is_expression = marks.is_expression
local operators = require "perilune.expressions.operators"
local comparison_mistakes = lazily "perilune.expressions.comparison_mistakes"
local binary, unary, list_operation = operators.binary, operators.unary, operators.list_operation
local join, shape_with_shape = operators.join, operators.shape_with_shape

--- The methods in this file, which expression.lua adds to expressions.
local methods = {}

--- Returns a call of an SQL function.
local function call(name, values, place)
  return list_operation("call", name, values, place)
end

--- Methods with the names of SQL functions. The first argument of the SQL function is the expression.
for _, name in ipairs{
  "lower", "upper", "length", "trim", "ltrim", "rtrim", "replace", "substr", "instr", "hex", "unicode", "typeof", "quote",
  "abs", "round", "sign", "likely", "unlikely", "date", "time", "datetime", "julianday",
  "unixepoch", "json_type", "json_array_length", "json_set", "json_insert", "json_replace", "json_remove",
  "json_patch", "json_valid", "ceil", "floor", "sqrt", "pow", "exp", "ln", "log10", "log2", "mod", "trunc",
} do
  methods[name] = function(self, ...)
    return call(name, { self, n = select("#", ...) + 1, ... }, "column:" .. name)
  end
end

--- Functions of dates, whose result would be NULL for a modifier that does not exist.
for _, name in ipairs{ "date", "time", "datetime", "julianday", "unixepoch" } do
  local plain = methods[name]
  methods[name] = function(self, ...)
    for index = 1, select("#", ...) do
      local modifier = select(index, ...)
      if type(modifier) == "number" or type(modifier) == "string" and not comparison_mistakes.is_modifier(modifier) then
        raise("argument", ("column:%s: argument %d: expected a modifier such as \"+7 days\" or \"start of month\", got %s"):format(name,
          index, errors.describe(modifier)))
      end
    end
    return plain(self, ...)
  end
end

--- Returns a part of a text, from a position.
local substr = methods.substr
function methods:substr(first, ...)
  if first == 0 then raise("argument", "column:substr: argument 1: positions begin with 1, got 0") end
  return substr(self, first, ...)
end

--- Functions that return or compare their arguments, which may be dates. If the first argument is a date column, dates are converted to the
-- text that the column stores.
for _, name in ipairs{ "coalesce", "nullif" } do
  methods[name] = function(self, ...)
    local values = { self, n = select("#", ...) + 1, ... }
    if self.shape.type and self.shape.type.form then
      for index = 2, values.n do values[index] = operators.as_column(self.shape, values[index]) end
    end
    return call(name, values, "column:" .. name)
  end
end

--- Formats a date; the same as strftime in SQL.
function methods:strftime(format, ...)
  if type(format) == "string" and format:find("%a") and not format:find("%%") then
    errors.raise("argument", ("column:strftime: the format %q has no fields, so the result is the same for all rows; use \"%%Y-%%m-%%d\", or \"%%H:%%M\" for a "
      .. "time of day"):format(format))
  end
  return call("strftime", { format, self, n = select("#", ...) + 2, ... }, "column:strftime")
end

--- Returns the JSON path of a member. SQLite compares the quoted name with the name as written in the JSON text, so both must have the same
-- escapes.
local function path_of_member(name, method)
  if name == "" or name:find('"', 1, true) then
    raise("argument", ("column:%s: argument 1: SQLite has no path for the name %q; use perilune.json.decode"):format(method, name))
  end
  return '$."' .. name:gsub("[%c\\]", { ["\\"] = "\\\\", ["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r", ["\b"] = "\\b", ["\f"] = "\\f" }) .. '"'
end

--- Functions whose second argument is a path, or the name of a member. A name is converted to a path.
for _, name in ipairs{ "json_type", "json_array_length", "json_set", "json_insert", "json_replace", "json_remove" } do
  local plain = methods[name]
  methods[name] = function(self, path, ...)
    if type(path) == "string" and path:sub(1, 1) ~= "$" then path = path_of_member(path, name) end
    if path == nil then return plain(self) end
    return plain(self, path, ...)
  end
end

--- Returns a value in JSON text: at a path (`$.address.city`), of a member (`address`), or at a position, which counts from 1.
function methods:json(path)
  if math.type(path) == "integer" then
    if path < 1 then raise("argument", "column:json: argument 1: positions begin with 1, got " .. path) end
    path = path - 1
  elseif type(path) ~= "string" then
    raise("argument", "column:json: argument 1: expected a path (\"$.name\"), a name or a position, got "
      .. errors.describe(path))
  elseif path:sub(1, 1) ~= "$" then path = path_of_member(path, "json") end
  return binary(self, "->>", path, "column:json")
end

-- Full-text search ----------------------------------------------------------------------------------------------------------

--- Returns a call of an FTS5 function on a column of a full-text table. The function receives the position of the column.
local function full_text_call(self, name, ...)
  local shape = self.shape
  if not shape.table then
    raise("argument", name .. ": expected a column of a full-text table: Class.c.column:" .. name .. "()")
  end
  local schema, position = shape.owner and shape.owner:schema() or native_schema.table(native_records.default_database(), shape.table), nil
  for index, column in ipairs(schema.columns) do
    if column.name == shape.detail then position = index - 1 end
  end
  local whole = operators.column(schema.name, shape.table, shape.place)
  whole.shape.owner = shape.owner
  return call(name, table.pack(whole, position, ...), "column:" .. name)
end

--- Returns the column's text, in which each match is enclosed by the two strings.
function methods:highlight(before, after)
  return full_text_call(self, "highlight", before or "<b>", after or "</b>")
end

--- Returns the part of the column's text around the matches.
-- @tparam ?integer tokens the maximum number of words, up to 64
function methods:snippet(before, after, ellipsis, tokens)
  return full_text_call(self, "snippet", before or "<b>", after or "</b>", ellipsis or "…", tokens or 16)
end

-- Aggregates ----------------------------------------------------------------------------------------------------------

for name, sql_name in pairs{
  count = "count", sum = "sum", total = "total", average = "avg", min = "min", max = "max",
  json_group_array = "json_group_array",
} do
  local is_numeric = sql_name == "sum" or sql_name == "total" or sql_name == "avg"
  methods[name] = function(self)
    if is_numeric then comparison_mistakes.check_aggregated(self.shape, name) end
    return call(sql_name, { self, n = 1 }, "column:" .. name)
  end
end

--- Concatenates all values.
-- @tparam ?string separator a comma by default
function methods:group_concat(separator)
  return call("group_concat", { self, separator, n = separator ~= nil and 2 or 1 }, "column:group_concat")
end

--- Restricts an aggregate to the rows that fulfill a condition.
function methods:where(condition)
  if not is_expression(condition) then
    raise("argument", "aggregate:where: argument 1: expected a condition, got " .. errors.describe(condition)
      .. (type(condition) == "string" and ("; use where(perilune.sql(%q))"):format(condition) or "; use where(Class.c.column:eq(value))"))
  end
  return join(shape_with_shape(self.shape, "filter", condition.shape), self, condition)
end

require("perilune.runtime.arity").limit(methods, "column:", {
  json = 1, json_type = 1, json_array_length = 1, json_set = 2, json_insert = 2, json_replace = 2, json_remove = 1, highlight = 2, snippet = 4, count = 0, sum = 0, total = 0, average = 0, min = 0, max = 0, json_group_array = 0,
  group_concat = 1, where = 1,
}, {
  count = "use column:count():where(condition) to count some rows",
  json = "use a path for a member of a member, as in column:json(\"$.address.city\")",
})

return methods
