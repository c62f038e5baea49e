--- Functions that create expressions: columns, SQL text, parameters, CASE, SQL functions.

local perilune = require "perilune"
local errors = require "perilune.native.errors"
local native_sql = require "perilune.native.sql"
local marks = require "perilune.runtime.marks"
local raise = errors.raise
local is_expression = marks.is_expression
local operators = require "perilune.expressions.operators"
local shapes = require "perilune.expressions.shapes"
local new_shape, root_shape = shapes.new_shape, shapes.root_shape
local metatable, operand, list_operation = operators.metatable, operators.operand, operators.list_operation
local check_string = operators.check_string

--- The functions that scripts call.
local public = {}

--- Returns the expression of a column.
-- @tparam ?string table the table, or nil for a column with this name in any table of the request
-- @tparam ?place selects one of several sources of the same table: an alias, or the number and name of the association that leads to the
--   source
-- @tparam ?table column_type see `classes.column_type`
function operators.column(name, table_name, place, column_type)
  local shape = new_shape("column", {}, name)
  shape.table, shape.place = table_name, place
  shapes.set_type(shape, column_type)
  return setmetatable({ shape = shape }, metatable)
end

--- Returns the expression of a column of a common table; see `column`.
function operators.common_column(name, source, place, column_type)
  local shape = new_shape("column", {}, name)
  shape.common, shape.place = source, place
  shapes.set_type(shape, column_type)
  return setmetatable({ shape = shape }, metatable)
end

function marks.resolve_dates(condition, form_of)
  return require("perilune.expressions.date_comparisons").resolve(condition, function(name)
    local form = form_of(name)
    return form and operators.column(name, nil, nil, { form = form })
  end)
end

--- Returns the names of the parameters in SQL text. Mistakes in the text are reported later, when it becomes part of a request.
local function parameters_of(text)
  if not text:find("[:@$]") then return {} end
  local names, known, places = {}, {}, native_sql.placeholders(text) or {}
  for index = 1, #places, 2 do
    local name = text:sub(places[index] + 1, places[index + 1])
    local is_named = text:byte(places[index]) ~= ("?"):byte()
    if is_named and not known[name] then names[#names + 1], known[name] = name, true end
  end
  return names
end

--- Returns SQL text with arguments. An argument may be an expression.
function operators.sql(text, arguments, place)
  check_string(place, text, "SQL text")
  if arguments.n == 1 and type(arguments[1]) == "table" and getmetatable(arguments[1]) == nil then
    return operators.named_sql(text, arguments[1], place)
  end
  local names = arguments.n == 0 and parameters_of(text) or {}
  if #names > 0 then
    local list = {}
    for index, name in ipairs(names) do list[index] = public.parameter(name) end
    return list_operation("named sql", text .. "\0" .. table.concat(names, "\0"), list, place)
  end
  if arguments.n == 0 then
    return setmetatable({ shape = root_shape("sql", text) }, metatable)
  end
  return list_operation("sql", text, arguments, place)
end

--- Returns SQL text whose arguments are given by name, for `:name` placeholders, or as a list.
function operators.named_sql(text, values, place)
  if #values > 0 then return list_operation("sql", text, values, place) end
  local names, list = {}, {}
  for name in pairs(values) do names[#names + 1] = name end
  table.sort(names)
  for index, name in ipairs(names) do list[index] = values[name] end
  if #names == 0 then raise("argument", place .. ": an empty table of arguments") end
  return list_operation("named sql", text .. "\0" .. table.concat(names, "\0"), list, place)
end

function public.sql(text, ...)
  return operators.sql(text, table.pack(...), "perilune.sql")
end

--- Returns the column with a name, in any table of the request.
function public.column(name)
  check_string("perilune.column: argument 1", name, "a name")
  return setmetatable({ shape = root_shape("column", name) }, metatable)
end

--- Returns the column with a name, in the tables of the request or in its result.
function operators.name(name)
  return public.column(name)
end

--- Returns a parameter, whose value is passed when a prepared request runs.
function public.parameter(name)
  check_string("perilune.parameter: argument 1", name, "a name")
  return setmetatable({ shape = root_shape("parameter", name) }, metatable)
end

function public.value(value)
  return operand(value, "perilune.value")
end

--- Returns COUNT(*), for selections.
function public.count()
  return setmetatable({ shape = root_shape("count all") }, metatable)
end

--- Returns a CASE expression: pairs of a condition and a value; `otherwise` is the value for all other rows.
--
--     perilune.case{ { Track.c.seconds:lt(180), "short" }, { Track.c.seconds:lt(600), "long" }, otherwise = "epic" }
function public.case(branches)
  if type(branches) ~= "table" or is_expression(branches) or #branches == 0 then
    raise("argument", "perilune.case: expected a list of { condition, value }, got " .. errors.describe(branches)
      .. "; use perilune.case{ { condition, value }, otherwise = value }")
  end
  local parts = { n = 0 }
  local function add(value) parts.n = parts.n + 1; parts[parts.n] = value end
  for index, branch in ipairs(branches) do
    if type(branch) == "table" and not is_expression(branch) and (type(branch[1]) == "string" or branch[3] ~= nil) then
      raise("argument", ("perilune.case: branch %d: expected { condition, value }, got a table%s"):format(index, branch[3] ~= nil
        and " of three values; use { column:eq(a), value }" or branch[2] == nil and ("; use otherwise = %q for the last case"):format(branch[1])
        or ("; a condition in SQL is perilune.sql(%q)"):format(branch[1])))
    elseif type(branch) ~= "table" or not is_expression(branch[1]) or branch[2] == nil then
      raise("argument", "perilune.case: branch " .. index .. ": expected { condition, value }, got " .. errors.describe(branch)
        .. (index == #branches and "; use otherwise = value for the last case" or ""))
    end
    add(branch[1])
    add(branch[2])
  end
  for key in next, branches do
    local is_branch = math.type(key) == "integer" and key >= 1 and key <= #branches
    if not is_branch and key ~= "otherwise" then
      raise("argument", "perilune.case: no field " .. errors.describe(key) .. "; use `otherwise` for the value of all other rows")
    end
  end
  if branches.otherwise ~= nil then add(branches.otherwise) end
  return list_operation("case", branches.otherwise ~= nil and "else" or nil, parts, "perilune.case")
end

--- The aggregate functions whose argument is a column, with the corresponding methods of expressions.
local aggregates = {
  sum = "sum", total = "total", avg = "average", min = "min", max = "max", count = "count", group_concat = "group_concat",
  json_group_array = "json_group_array", string_agg = "group_concat",
}

--- SQL functions that need an expression among their arguments to return different values for different rows, with the corresponding
-- methods of expressions.
local scalars = { ifnull = "coalesce", substring = "substr" }
for name in ("abs coalesce hex instr length lower ltrim quote replace round rtrim sign substr trim typeof unicode upper"):gmatch("%a+") do
  scalars[name] = name
end

--- Date functions, with the position of the date among their arguments.
local dates = { date = 1, time = 1, datetime = 1, julianday = 1, unixepoch = 1, strftime = 2 }

local function is_identifier(text) return text:find("^[%a_][%w_]*$") ~= nil end

--- Returns the position of a text argument that was probably meant as a column name, and the method to use instead; nil if there is no such
-- argument.
local function misplaced_name(name, arguments)
  local aggregate, date = aggregates[name], dates[name]
  if date then
    local text = arguments[date]
    -- All texts for dates contain digits or signs, except for `now`.
    if type(text) == "string" and is_identifier(text) and text:lower() ~= "now" then return date, name end
  elseif type(arguments[1]) ~= "string" then
    return nil
  elseif aggregate then
    if arguments.n == 1 or aggregate ~= "min" and aggregate ~= "max" then return 1, aggregate end
  elseif scalars[name] then
    for index = 2, arguments.n do
      if is_expression(arguments[index]) then return nil end
    end
    return 1, scalars[name]
  end
end

--- FTS5 functions, whose first argument in SQL is the name of the table, and what to use instead.
local full_text = {
  bm25 = "use order(\"rank\"), or select(\"rank\")", highlight = "use Class.c.column:highlight(before, after)",
  snippet = "use Class.c.column:snippet(before, after, ellipsis, tokens)",
}

--- Raises if text is passed to a function of columns: in SQL it is a value, not the name of a column.
local function check_names(name, arguments)
  local use = type(arguments[1]) == "string" and full_text[name:lower()]
  if use then raise("argument", ("perilune.fn.%s: argument 1: expected an expression, got the text %q; %s"):format(name, arguments[1], use)) end
  local position, method = misplaced_name(name:lower(), arguments)
  if not position then return end
  local text = arguments[position]
  raise("argument", text == "*" and "perilune.fn.count: use perilune.count() for all rows"
    or ("perilune.fn.%s: argument %d: expected an expression, got the text %q; use Class.c.%s:%s(%s), or perilune.value(%q) for the text itself"):format(
      name, position, text, is_identifier(text) and text or "column", method, arguments.n > 1 and "..." or "", text))
end

--- SQL functions by name, including functions added by the script: `perilune.fn.substr(column, 1, 3)`.
perilune.fn = setmetatable({}, {
  __call = function() raise("argument", "perilune.fn is a table of functions; use perilune.fn.name(...) with the name of an SQL function") end,
  __name = "SQL functions",
  __index = function(functions, name)
    check_string("perilune.fn", name, "the name of a function")
    local function made(...)
      local arguments = table.pack(...)
      check_names(name, arguments)
      return list_operation("call", name, arguments, "perilune.fn." .. name)
    end
    rawset(functions, name, made)
    return made
  end,
  __newindex = function()
    raise("readonly", "perilune.fn cannot be changed; use db:add_function to define functions")
  end,
})

--- Returns the condition that a request returns at least one row.
function public.exists(request)
  return require("perilune.expressions.subquery").exists(request, "perilune.exists")
end

operators.public = public
return operators
