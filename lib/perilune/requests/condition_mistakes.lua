--- Recognizes conditions as other libraries write them, and names the form that they have here.

local date = require("perilune").date
local null = require("perilune.native.values").null
local errors = require "perilune.native.errors"
local class_properties = require "perilune.requests.class_properties"
local sql_names = require "perilune.runtime.names"
local stored_dates = require "perilune.runtime.stored_dates"
local comparison_mistakes = lazily "perilune.expressions.comparison_mistakes"
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
  local negated, called = name:match("^!%s*([%a_][%w_]*)$"), name:match("^%a[%w_]*%(.*%)$")
  if called then
    raise("unknown_column", ("%s: `%s` is not a column; use SQL text with an argument: filter(\"%s = ?\", value)"):format(place, name, name), { name = name })
  elseif negated and is_column(negated) then
    raise("unknown_column", ("%s: no column `%s`; use filter(%s)"):format(place, name, call(negated, "ne")), { name = name, suggestion = negated })
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
  -- Fetched lists raise errors for fields such as `min`.
  local function has(low, high) return rawget(value, low) ~= nil and rawget(value, high) ~= nil end
  if has("from", "to") or has("min", "max") or has("gte", "lte") then method = "between" end
  if not method and type(value[1]) == "string" and (#value == 2 or #value == 3) then
    -- An operator that is a word might also be a value of the column.
    local is_sign = value[1]:find("^[<>=!~]+$") or value[1]:find(" ")
    method = (is_sign or value[1]:lower() == "like" or value[1]:lower() == "between") and method_of(value[1])
  end
  if not method and type(operator) == "string" and value[1] == nil then
    raise("argument", ("%s: expected a value or a list of values, got a table with the field %q; use filter(Class.c.%s:json(%q):eq(value)) for a member "
      .. "of JSON, filter{ [\"association.%s\"] = value } for a column of an association"):format(place, operator, column, operator, operator))
  elseif not method then return end
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

--- Returns the condition that is meant by a text without a placeholder and its values: `age >=`, `age IN`, or `age` with "between".
local function placed(text, values)
  local column, operator = text:match("^%s*([%a_][%w_]*)%s*(.-)%s*$")
  local method = column and method_of(operator == "" and values[1] or operator)
  if method then return ("filter(%s), or \"name = ?\""):format(call(column, method)) end
  return "\"name = ?\""
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
  end
  local is_unnamed = values.n > 0 and (type(list) ~= "table" or getmetatable(list) == nil and #list > 0)
  if is_unnamed and text:find("[:@$]%a") and not text:find("?", 1, true) then
    raise("argument", ("%s: a named placeholder takes its value from a table: filter(%q, { %s = value })"):format(method, text, text:match("[:@$](%a[%w_]*)")))
  elseif values.n > 0 and text:find("%$%d") and not text:find("?", 1, true) then
    raise("argument", ("%s: `%s` has no placeholder `?`; use `?`, or `?1` for the first value"):format(method, text))
  end
  if values.n > 0 and text:find("%", 1, true) and (text:find("[lL][iI][kK][eE]%s+%%%?") or text:find("[lL][iI][kK][eE]%s+%?%%")) then
    raise("argument", method .. ": `%` is part of the value; use \"name LIKE ?\" with the value \"%\" .. text .. \"%\"")
  end
  local several = values.n > 1 and text:find("(?)", 1, true) and text:match("([%a_][%w_]*)%s+[iI][nN]%s*%(%?%)%s*$")
  if several and select(2, text:gsub("%?", "")) == 1 then
    raise("argument", ("%s: one placeholder stands for one value; use filter{ %s = { 1, 2 } }, or filter(Class.c.%s:is_in{ 1, 2 })"):format(
      method, several, several))
  end
  if values.n > 0 and text:find("'", 1, true) and text:find("'[^']*%?[^']*'") and not text:gsub("'[^']*'", ""):find("[?:@$]") then
    raise("argument", method .. ": a placeholder in quotes is text; use \"name = ?\", or \"name LIKE ?\" with the value "
      .. "\"%\" .. text .. \"%\"")
  end
  local sign, negated = text:match("^%s*([!-])%s*([%a_][%w_]*)%s*$")
  if negated then
    raise("argument", ("%s(%q): SQL does not negate conditions with `%s`; use \"NOT %s\", or %s(~Class.c.%s)"):format(method, text, sign, negated, method, negated))
  end
  if values.n == 0 and is_literal(text) then
    raise("argument", ("%s(%q): a literal is the same for all rows, so it is not a condition; use filter_key(%q) for the row with this key, all() or "
      .. "none()"):format(method, text, text))
  elseif name and method:find("join", 1, true) then
    raise("argument", ("%s: the SQL text `%s` is not a condition; use an expression, as in join(Other, Class.c.other_id:eq(Other.c.id))"):format(
      method, text))
  elseif name and values.n == 0 then
    check_column(name, text)
  elseif name and values.n == 1 then
    raise("argument", ("%s: the SQL text `%s` has no placeholder for a value; use filter{ %s = value }, or filter(\"%s = ?\", value)"):format(method, text,
      name, name))
  elseif name and values.n == 2 and method_of(values[1]) then
    raise("argument", ("%s: the SQL text `%s` has no placeholders for values; use filter(%s)"):format(method, text, call(name, method_of(values[1]))))
  elseif values.n > 0 and not text:find("[?:@$]") then
    raise("argument", ("%s: the SQL text `%s` has no placeholder for its %s; use %s"):format(method, text,
      values.n == 1 and "value" or values.n .. " values", placed(text, values)))
  end
end

local equalities = { ["="] = "is_null", ["=="] = "is_null", ["<>"] = "is_not_null", ["!="] = "is_not_null" }

--- Raises for NULL as the operand of `=`.
local function check_null(place, comparison, value)
  local left, method = comparison.column or comparison.call or "column", equalities[comparison.op]
  if method and (rawequal(value, null) or comparison.word == "null" or comparison.word == "nil") then
    raise("argument", ("%s: in SQL, nothing equals NULL; use \"%s %s %s\", or filter(Class.c.%s:%s())"):format(place, left,
      method == "is_null" and "IS" or "IS NOT", value and "?" or "NULL", comparison.column or "column", method))
  end
end

--- Raises if SQL text compares a column of dates with a value that does not have the form in which the column stores dates.
-- @tparam string form "day" or "instant" (see stored_dates.lua)
local function check_stored_date(place, comparison, value, form)
  local column, method = comparison.column, method_of(comparison.op)
  if not method or comparison.op == "like" then return end
  local cure = ("use filter(%s)"):format(call(column, method))
  if date.is(value) then
    if form == "day" then
      raise("argument", ("%s: the date is passed with its time, which the days in `%s` lack; %s, or pass date:format(\"%%Y-%%m-%%d\")"):format(place,
        column, cure))
    end
  elseif type(value) == "number" then
    raise("argument", ("%s: `%s` contains dates as text, which differ from all numbers, got %s; %s with perilune.date(%s)"):format(place, column,
      comparison.text or value, cure, comparison.text and "\"2026-03-31\"" or value))
  elseif type(value) == "string" and not comparison_mistakes.is_date_text(value) then
    if value:find("%d") or comparison_mistakes.is_relative(value) then
      raise("argument", ("%s: %q is not the text of a date, which `%s` contains; %s, or text such as '2026-03-31'"):format(place, value, column, cure))
    end
  elseif type(value) == "string" and form == "day" and #value > 10 and not comparison.op:find("^[<>]=?$") then
    raise("argument", ("%s: %q has a time, which the days in `%s` lack; %s, or '%s'"):format(place, value, column, cure, value:sub(1, 10)))
  elseif comparison.function_name == "unixepoch" or comparison.function_name == "strftime" and comparison.argument == "%s" then
    raise("argument", ("%s: `%s` contains dates as text, which differ from all numbers; compare it with datetime('now')"):format(place, column))
  end
end

--- Raises for a value that is compared with the result of a function in SQL text.
local function check_result(place, comparison, value)
  if comparison.call == "date" and date.is(value) then
    raise("argument", ("%s: the date is passed with its time, which `%s` lacks; pass date:format(\"%%Y-%%m-%%d\")"):format(place, comparison.shown))
  elseif (comparison.call == "strftime" or comparison.call == "date" or comparison.call == "datetime") and type(value) == "number" then
    raise("argument", ("%s: the result of `%s` is text, which differs from all numbers; use '%s'"):format(place, comparison.call, tostring(value)))
  elseif comparison.call == "strftime" and type(value) == "string" and value:find("^%d$") and (comparison.first == "%m" or comparison.first == "%d") then
    raise("argument", ("%s: strftime('%s', ...) has two digits; use '0%s'"):format(place, comparison.first, value))
  end
end

--- Raises for text in place of a condition after OR.
local function check_alternative(place, comparison, value)
  if type(value) ~= "string" or tonumber(value) then return end
  local column = comparison.first_column or "name"
  raise("argument", ("%s: OR connects conditions, and %q is a value, which is false; use filter{ %s = { \"a\", \"b\" } }, or \"%s IN (?, ?)\""):format(place,
    value, column, column))
end

--- What to use in place of a part that a condition in SQL text cannot have.
local flaw_cures = {
  where = "a condition is given without WHERE", select = "it is a statement; use Class:fetch_all(sql, ...), or only its condition",
  ["order by"] = "use order(\"column\") after the condition", ["group by"] = "use group(\"column\") after the condition",
  limit = "use limit(count) after the condition", ["&&"] = "SQL combines conditions with AND",
  ["||"] = "`||` connects texts in SQL; use OR", interval = "SQLite has no intervals; use datetime('now', '-7 days')",
  chain = "a comparison has two sides; use BETWEEN low AND high", ["+"] = "`+` adds numbers; use || to connect texts",
  modifier = "SQLite has no such modifier, so the result is NULL; use one such as '-7 days' or 'start of month'",
  aggregate = "rows are filtered before they are counted; use having(...) for aggregates",
}

--- Raises if SQL text contains a part that no condition can have.
local function check_flaw(method, text, flaw, modifier)
  if flaw == "aggregate" and method ~= "filter" then return end
  if modifier then raise("argument", ("%s: `%s` in `%s`: %s"):format(method, modifier, text, flaw_cures[flaw])) end
  raise("argument", ("%s: `%s` is not a condition: %s"):format(method, text, flaw_cures[flaw]))
end

--- Raises for a date in a statement of a class that is compared with a column of days. Only statements on a single table are checked,
-- because other tables may have a column of the same name.
function mistakes.statement(method, class, sql, values)
  local comparisons = require("perilune.requests.text_comparisons").of(sql)
  if not comparisons.only_table or not sql_names.same(comparisons.only_table, class_properties.table(class)) then return end
  local named = type(values[1]) == "table" and getmetatable(values[1]) == nil and values[1] or values
  for _, comparison in ipairs(comparisons) do
    local value = comparison.parameter and named[comparison.parameter]
    if value and comparison.column and date.is(value) then
      local is_column, column_type = pcall(class_properties.column_type, class, comparison.column)
      local form = is_column and column_type and column_type.form
      if form then check_stored_date(method, comparison, value, form) end
    end
  end
end

--- Replaces dates that begin a range in a column of instants by their shortest texts, and returns the values. The longer texts of an
-- instant, `2026-03-31 18:30:00` and `2026-03-31 18:30:00.000`, sort after it.
local function with_starts(comparisons, values, named, type_of)
  local changed = nil
  for _, comparison in ipairs(comparisons) do
    local parameter = comparison.is_start and comparison.is_single and comparison.column and comparison.parameter
    local value = parameter and (named or values)[parameter]
    if value and date.is(value) and type_of(comparison.column) == "instant" then
      local texts = stored_dates.read("instant", value)
      if not changed then
        changed = {}
        for key, given in next, named or values do changed[key] = given end
      end
      if texts then changed[parameter] = texts.first end
    end
  end
  if not changed then return values end
  return named and { n = 1, changed } or changed
end

--- Raises for values in SQL text whose comparison has the same result for all rows.
-- @tparam function type_of returns how a column stores dates, "day" or "instant", or "boolean"; nil for other names
-- @return the values to pass, in which the texts of dates begin their ranges
function mistakes.compared_values(method, text, values, type_of)
  local named = values.n == 1 and type(values[1]) == "table" and getmetatable(values[1]) == nil and values[1] or nil
  local comparisons = require("perilune.requests.text_comparisons").of(text)
  if comparisons.flaw then check_flaw(method, text, comparisons.flaw, comparisons.modifier) end
  for _, comparison in ipairs(comparisons) do
    local value = comparison.value
    if comparison.shift then
      raise("argument", ("%s: SQL would compute with the year of the date; use date('now', '%s days'), or datetime(...) for a "
        .. "time"):format(method, comparison.shift))
    end
    if comparison.parameter then value = (named or values)[comparison.parameter] end
    check_null(method, comparison, value)
    local type = comparison.column and type_of(comparison.column)
    if type == "boolean" and _G.type(value) == "string" then
      raise("argument", ("%s: `%s`: expected true or false, got the string %q; use \"%s\" or \"NOT %s\""):format(method, comparison.column, value,
        comparison.column, comparison.column))
    elseif type == "day" or type == "instant" then check_stored_date(method, comparison, value, type)
    elseif comparison.op == "or" then check_alternative(method, comparison, value)
    elseif comparison.call then check_result(method, comparison, value)
    elseif comparison.op == "like" and comparison.value and value:find("^%*?[^%*]+%*$") and not value:find("[%%_]") then
      raise("argument", ("%s: the pattern %q has no wildcard of LIKE, which are `%%` for any text and `_` for one character; GLOB has `*`"):format(method, value))
    elseif comparison.op == "->" and _G.type(value) == "string" and not value:find('^[%["{]') then
      raise("argument", ("%s: `->` returns JSON text, in which strings have quotes; use `->>`"):format(method))
    end
  end
  return with_starts(comparisons, values, named, type_of)
end

local connectives_of_sums = { ["+"] = "| ", ["*"] = "& ", ["-"] = "& ~" }

--- Returns whether a shape is a condition or a column of booleans.
local function is_truth(shape, is_condition)
  return is_condition(shape) or shape.op == "and" or shape.op == "or" or shape.op == "column" and shape.held == "booleans"
end

--- Raises for arithmetic in place of a condition: `-x`, or arithmetic with conditions. Other numbers may be meant as truth values.
local function check_arithmetic(shape, method, is_condition)
  local op, operands = shape.op, shape.operands
  if op == "negate" then
    raise("argument", ("%s: `-` negates numbers, and all numbers except 0 are true; use `~` for NOT, as in %s(~condition)"):format(method, method))
  elseif comparison_mistakes.is_text(shape) then
    raise("argument", ("%s: a text is not a condition; use a comparison, as in %s(expression:eq(value))"):format(method, method))
  elseif comparison_mistakes.is_arithmetic(shape) and (is_truth(operands[1], is_condition) or is_truth(operands[2], is_condition)) then
    local connective = connectives_of_sums[op]
    raise("argument", ("%s: `%s` computes with numbers; combine conditions with `&` and `|`, negate them with `~`%s"):format(method, op,
      connective and (", as in %s(first %ssecond)"):format(method, connective) or ""))
  end
end

--- Raises for an expression that is not a condition. Sets the field `is_truth` of other shapes.
-- @tparam function check_column raises for columns that are not truth values
-- @tparam function is_condition returns whether a shape is a comparison
function mistakes.untrue(shape, method, check_column, is_condition)
  local checked = {}
  -- Chains of thousands of conditions nest on the left, so they are traversed in a loop.
  while not shape.is_truth do
    local op, operands = shape.op, shape.operands
    if op == "column" then check_column(shape, method)
    elseif op ~= "and" and op ~= "or" and op ~= "not" then check_arithmetic(shape, method, is_condition) end
    if op ~= "column" then checked[#checked + 1] = shape end
    if op ~= "and" and op ~= "or" and op ~= "not" then break end
    if operands[2] then mistakes.untrue(operands[2], method, check_column, is_condition) end
    shape = operands[1]
  end
  for _, passed in ipairs(checked) do passed.is_truth = true end
end

--- Raises for a key that was passed instead of a condition.
function mistakes.key(method, key)
  local shown = type(key) == "number" and tostring(key) or "key"
  raise("argument", ("%s(%s): expected a condition, got a key; use filter_key(%s)"):format(method, shown, shown))
end

return mistakes
