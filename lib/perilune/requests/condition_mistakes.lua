--- Recognizes conditions as other libraries write them, and names the form that they have here.

local date = require("perilune").date
local null = require("perilune.native.values").null
local errors = require "perilune.native.errors"
local native_sql = require "perilune.native.sql"
local raise = errors.raise

local mistakes = {}

--- The methods of expressions by the names and signs of operators in other libraries.
local methods = {
  ["="] = "eq", ["=="] = "eq", eq = "eq", equals = "eq", exact = "eq", is = "eq", ["<>"] = "ne", ["!="] = "ne", ["~="] = "ne", ne = "ne", neq = "ne", ["not"] = "ne",
  isnot = "is_not", ["is not"] = "is_not", [">"] = "gt", gt = "gt", [">="] = "ge", gte = "ge", ge = "ge", min = "ge", from = "ge", to = "le", ["<"] = "lt", lt = "lt", ["<="] = "le",
  lte = "le", le = "le", max = "le", like = "like", ilike = "like", ["not like"] = "like", contains = "contains", icontains = "contains", includes = "contains",
  has = "contains", startswith = "starts_with", istartswith = "starts_with", starts_with = "starts_with", startsWith = "starts_with",
  endswith = "ends_with", iendswith = "ends_with", ends_with = "ends_with", endsWith = "ends_with", between = "between", range = "between", ["in"] = "is_in",
  is_in = "is_in", any = "is_in", ["not in"] = "is_not_in", notIn = "is_not_in", not_in = "is_not_in", isnull = "is_null", is_null = "is_null",
  null = "is_null", glob = "glob", regex = "regexp", iregex = "regexp", regexp = "regexp", match = "match", iexact = "collating", year = "strftime",
  month = "strftime", day = "strftime", date = "date",
}

local arguments = { between = "low, high", is_in = "{ 1, 2 }", is_not_in = "{ 1, 2 }", is_null = "", collating = "\"nocase\"", strftime = "\"%Y\"", date = "" }

local function method_of(operator)
  if type(operator) ~= "string" then return nil end
  operator = operator:gsub("^%$", "")
  return methods[operator] or methods[operator:lower()]
end

local function call(column, method)
  local values = arguments[method] or "value"
  return "Class.c." .. column .. ":" .. method .. (values:find("^{") and values or "(" .. values .. ")")
end

local connectives = { ["or"] = "|", ["and"] = "&", ["not"] = "~", ["$or"] = "|", ["$and"] = "&", ["$not"] = "~", any = "|", all = "&", _or = "|", _and = "&",
  or_ = "|", and_ = "&", not_ = "~" }

--- The replacement of options with which other libraries describe a whole request.
local request_words = {
  where = "give the conditions themselves, as in filter{ name = \"Ada\" }", conditions = "give the conditions themselves, as in filter{ name = \"Ada\" }",
  order = "use request:order(\"column\")", order_by = "use request:order(\"column\")", orderBy = "use request:order(\"column\")", limit = "use request:limit(count)",
  take = "use request:limit(count)", skip = "use request:limit(count, offset)", offset = "use request:limit(count, offset)", select = "use request:select(\"column\", ...)",
  columns = "use request:select(\"column\", ...)", attributes = "use request:select(\"column\", ...)", include = "use request:including_all(Class.association)",
  includes = "use request:including_all(Class.association)", include_all = "use request:including_all(Class.association)", group = "use request:group(\"column\")",
  having = "use request:having(condition)", distinct = "use request:distinct()", join = "use request:joining_required(Class.association)",
  key = "use filter_key(key)", pk = "use filter_key(key)",
}

--- Raises for the name of a field that contains an operator: `total__gt`, "total >", "OR".
-- @tparam function is_column returns whether a name is a column
function mistakes.field(name, place, is_column)
  local connective = connectives[name:lower()]
  if connective then
    raise("argument", ("%s: `%s` is not a column; combine expressions with `%s`: filter(%s)"):format(place, name, connective,
      connective == "~" and "~Class.c.a:eq(1)" or "Class.c.a:eq(1) " .. connective .. " Class.c.b:eq(2)"))
  end
  if request_words[name] then
    raise("argument", ("%s: `%s` is not a column; %s"):format(place, name, request_words[name]))
  end
  local column, operator = name:match("^([%a_][%w_]-)__([%w_]+)$")
  if not column then column, operator = name:match("^%s*([%a_][%w_]*)%s*([^%w%s_].-)%s*%??%s*$") end
  if not column then column, operator = name:match("^%s*([%a_][%w_]*)%s+([%a ]-)%s*%??%s*$") end
  if not column then column, operator = name:match("^([%a_][%w_]-)_([%a]+)$") end
  local method = column and is_column(column) and method_of(operator)
  if method then
    raise("unknown_column", ("%s: no column `%s`; use filter(%s)"):format(place, name, call(column, method)), { name = name, suggestion = column })
  end
end

--- Raises for a table that gives an operator and its operand: `{ gt = 5 }`, `{ ">", 5 }`.
function mistakes.value(column, value, place)
  local operator = next(value)
  local method = type(operator) == "string" and method_of(operator)
  if value.from ~= nil and value.to ~= nil or value.min ~= nil and value.max ~= nil or value.gte ~= nil and value.lte ~= nil then method = "between" end
  if not method and type(value[1]) == "string" and (#value == 2 or #value == 3) then
    -- An operator of letters may also be a value of the column.
    local is_sign = value[1]:find("^[<>=!~]+$") or value[1]:find(" ")
    method = (is_sign or value[1]:lower() == "like" or value[1]:lower() == "between") and method_of(value[1])
  end
  if not method then return end
  raise("argument", ("%s: expected a value or a list of values, got an operator; use filter(%s)"):format(place, call(column, method)))
end

local words = { null = true, ["true"] = true, ["false"] = true }

--- Returns whether SQL text is only a literal, which is true or false for all rows.
local function is_literal(text)
  local inner = text:match("^%s*%((.*)%)%s*$")
  if inner then return is_literal(inner) end
  text = text:match("^%s*(.-)%s*$")
  return text:find("^[+-]?%.?%d[%w.]*$") ~= nil or text:find("^[xX]?'[^']*'$") ~= nil or words[text:lower()] == true
    or text:find("^%x+%-%x+%-%x+%-%x+%-%x+$") ~= nil
end

--- Raises for SQL text that cannot be a condition: a literal, or a name that is not a column.
-- @tparam function check_column raises for a name that is not a column
function mistakes.text(method, text, values, check_column)
  local name = text:match("^%s*([%a_][%w_]*)%s*$")
  local list = values.n == 1 and values[1]
  if type(list) == "table" and getmetatable(list) == nil and #list > 0 then
    local column = text:match("([%a_][%w_]*)%s+[iI][nN]%s*%(?%s*%?%s*%)?%s*$")
    if column then
      raise("argument", ("%s: one placeholder stands for one value, not for a list; use filter{ %s = { 1, 2 } }, or filter(Class.c.%s:is_in{ 1, 2 })"):format(
        method, column, column))
    end
  elseif values.n > 0 and text:find("%$%d") and not text:find("?", 1, true) then
    raise("argument", ("%s: `%s` has no placeholder `?`; use `?`, or `?1` for the first value"):format(method, text))
  end
  if values.n == 0 and is_literal(text) then
    raise("argument", ("%s(%q): a literal is the same for all rows, so it is not a condition; use filter_key(%q) for the row with this key, all() or "
      .. "none()"):format(method, text, text))
  elseif name and values.n == 0 then
    check_column(name, text)
  elseif name and values.n == 1 then
    raise("argument", ("%s: the SQL text `%s` has no placeholder for a value; use filter{ %s = value }, or filter(\"%s = ?\", value)"):format(method, text,
      name, name))
  elseif name and values.n == 2 and method_of(values[1]) then
    raise("argument", ("%s: the SQL text `%s` has no placeholders for values; use filter(%s)"):format(method, text, call(name, method_of(values[1]))))
  elseif values.n > 0 and not text:find("[?:@$]") then
    raise("argument", ("%s: the SQL text `%s` has no placeholder for its %s; use \"name = ?\""):format(method, text,
      values.n == 1 and "value" or values.n .. " values"))
  end
end

--- Returns what is compared with the placeholder that follows a text: a name or a call of a function, and the operator.
local function compared_with(before)
  before = before:gsub("%s+[bB][eE][tT][wW][eE][eE][nN]%s+[?:@$][%w_]*%s+[aA][nN][dD]%s*$", " between "):gsub("%s+[iI][nN]%s*%([?:@$%w_,%s]*$", " in ")
  local compared, operator = before:match("([%w_]+%b())%s*([<>=!]+)%s*$")
  if not compared then compared, operator = before:match("([%a_][%w_]*)[\"`%]]?%s*([<>=!]+)%s*$") end
  if not compared then compared, operator = before:match("([%a_][%w_]*)[\"`%]]?%s+(%a+)%s*$") end
  return compared, operator and operator:lower()
end

local equalities = { ["="] = "is_null", ["=="] = "is_null", ["<>"] = "is_not_null", ["!="] = "is_not_null" }

--- Raises for a value that SQL compares in a way that is never meant: NULL with `=`, and the full text of a date with a day.
local function check_compared(place, before, value, stores_days)
  local compared, operator = compared_with(before)
  if not compared then return end
  if rawequal(value, null) and equalities[operator] then
    raise("argument", ("%s: in SQL, nothing equals NULL; use \"%s IS ?\", or filter(Class.c.%s:%s())"):format(place, compared, compared,
      equalities[operator]))
  end
  local method = date.is(value) and method_of(operator)
  if not method then return end
  if compared:find("^[dD][aA][tT][eE]%(") then
    raise("argument", ("%s: the date is passed with its time, which `%s` lacks; pass date:format(\"%%Y-%%m-%%d\")"):format(place, compared))
  elseif stores_days(compared) then
    raise("argument", ("%s: the date is passed with its time, which the days in `%s` lack; use filter(%s), or pass "
      .. "date:format(\"%%Y-%%m-%%d\")"):format(place, compared, call(compared, method)))
  end
end

--- Raises for a comparison with the word NULL, outside of strings.
local function check_null(method, text)
  local operator = text:gsub("'[^']*'", "''"):match("([<>=!]+)%s*[nN][uU][lL][lL]%f[^%w_]")
  if not equalities[operator] then return end
  raise("argument", ("%s: in SQL, nothing equals NULL; use `%s` in place of `%s NULL`"):format(method,
    equalities[operator] == "is_null" and "IS NULL" or "IS NOT NULL", operator))
end

--- Returns whether a value is an object, as NULL and dates are.
local function has_object(values)
  for index = 1, values.n do
    local value = values[index]
    if type(value) == "userdata" then return true end
    if type(value) == "table" and getmetatable(value) == nil then
      for _, named in next, value do
        if type(named) == "userdata" then return true end
      end
    end
  end
  return false
end

--- Raises for values in SQL text that are compared in a way that is never meant.
-- @tparam function stores_days returns whether a name is a column of days
function mistakes.compared_values(method, text, values, stores_days)
  if text:find("NULL", 1, true) or text:find("null", 1, true) then check_null(method, text) end
  if not has_object(values) then return end
  local places = native_sql.placeholders(text) or {}
  for index = 1, #places, 2 do
    local written = text:sub(places[index] + 1, places[index + 1])
    local from = type(values[1]) == "table" and getmetatable(values[1]) == nil and values[1] or values
    local value = from[written == "" and index // 2 + 1 or tonumber(written) or written]
    if value ~= nil then check_compared(method, text:sub(1, places[index] - 1), value, stores_days) end
  end
end

--- Raises for a key, which `filter` does not take.
function mistakes.key(method, key)
  local shown = type(key) == "number" and tostring(key) or "key"
  raise("argument", ("%s(%s): expected a condition, got a key; use filter_key(%s)"):format(method, shown, shown))
end

return mistakes
