--- Expressions: what SQL computes, written in Lua.
--
--     Author.c.age:gt(18) & ~Author.c.country:is_null()
--     Author.c.first_name .. " " .. Author.c.last_name
--
-- An expression is a shape, shared by all expressions that differ in nothing but their values, and these values in the order in
-- which it was written. Shapes are made once; Swift sees them when a request is first compiled.

local internal = ...

local expression = {}

--- What getmetatable answers for an expression, and so tells it from any other table.
local mark = "expression"
local methods = {}
local metatable = { __name = mark, __metatable = mark }
local raise = internal.raise

local is_expression = internal.is_expression

-- Shapes --------------------------------------------------------------------------------------------------------------

--- A shape: `op`, its operands (shapes) in a list, `count` (how many values it has in all), and `detail`, what else tells it from
-- others. Its other fields hold the shapes that were derived from it.
local function new_shape(op, operands, detail)
  local count = op == "slot" and 1 or 0
  for index = 1, #operands do count = count + operands[index].count end
  return { op = op, operands = operands, count = count, detail = detail, with_value = {}, with_shape = {}, alone = {} }
end

--- The shape of one value.
local slot = new_shape("slot", {})
local weak_keys = { __mode = "k" }

--- The shape of an operator between a shape and a value.
local function shape_with_value(left, op)
  local shape = left.with_value[op]
  if not shape then
    shape = new_shape(op, { left, slot })
    left.with_value[op] = shape
  end
  return shape
end

local function shape_with_shape(left, op, right)
  local others = left.with_shape[op]
  if not others then
    others = setmetatable({}, weak_keys)
    left.with_shape[op] = others
  end
  local shape = others[right]
  if not shape then
    shape = new_shape(op, { left, right })
    others[right] = shape
  end
  return shape
end

--- The shape of an operator of one operand; `detail` is a string or nil.
local function shape_alone(operand, op, detail)
  local key = detail and op .. " " .. detail or op
  local shape = operand.alone[key]
  if not shape then
    shape = new_shape(op, { operand }, detail)
    operand.alone[key] = shape
  end
  return shape
end

--- Shapes that grow from no other: SQL texts, calls without operands, names. Forgotten when there are too many of them.
local roots, root_count = {}, 0

local function root_shape(key, make)
  local shape = roots[key]
  if not shape then
    if root_count >= 1000 then roots, root_count = {}, 0 end
    shape = make()
    roots[key], root_count = shape, root_count + 1
  end
  return shape
end

--- The shape of an operation over a list of shapes: grown one by one, so that equal lists give the same shape.
local function shape_of_list(op, operands, detail)
  local shape = root_shape(op .. " " .. (detail or "") .. " " .. #operands, function()
    return { branches = setmetatable({}, weak_keys) }
  end)
  for index = 1, #operands do
    local branch = shape.branches[operands[index]]
    if not branch then
      branch = { branches = setmetatable({}, weak_keys) }
      shape.branches[operands[index]] = branch
    end
    shape = branch
  end
  shape.shape = shape.shape or new_shape(op, operands, detail)
  return shape.shape
end

-- Values --------------------------------------------------------------------------------------------------------------

--- The expression of a shape with the values of other expressions, which are gathered when they are needed.
local function join_all(shape, expressions)
  return setmetatable({ shape = shape, parts = expressions }, metatable)
end

local function join(shape, left, right)
  return setmetatable({ shape = shape, parts = { left, right } }, metatable)
end

--- Puts the values of an expression into a list behind `count` others; returns how many there are then.
local function collect(self, list, count)
  local parts = rawget(self, "parts")
  if not parts then
    local own = self.shape.count
    for index = 1, own do list[count + index] = self[index] end
    return count + own
  end
  for index = 1, #parts do count = collect(parts[index], list, count) end
  return count
end

local function of_value(value)
  return setmetatable({ shape = slot, value }, metatable)
end

local plain_types = { string = true, number = true, boolean = true }

local lists_cure = "; for one of several values write `column:is_in(list)`"

--- What cannot be compared with.
local function raise_operand(place, value)
  if value == nil then
    raise("argument", place .. ": the value is nil; for NULL write `:is_null()`, or perilune.null")
  elseif internal.is_request(value) then
    raise("argument", place .. ": a request that gives one value must select one column: write request:select(\"column\")")
  end
  raise("argument", place .. ": expected a value or an expression, got " .. internal.describe(value)
    .. (type(value) == "table" and lists_cure or ""))
end

--- Whether this is a value that SQLite can store: a date, a blob, a case of an enum, ...
local function is_storable(value)
  if value == internal.null or internal.is_blob(value) then return true end
  local kind = type(value)
  if kind ~= "table" and kind ~= "userdata" then return false end
  local ok, plain = pcall(internal.plain, value)
  return ok and not rawequal(plain, value)
end

--- An expression of anything that can stand in one: values, expressions, requests as scalars.
-- @tparam string place what messages begin with
local function operand(value, place)
  if plain_types[type(value)] then return of_value(value) end
  if is_expression(value) then return value end
  if value ~= nil and internal.is_request(value) then return internal.load("subquery").scalar(value, place) end
  if is_storable(value) then return of_value(value) end
  return raise_operand(place, value)
end

-- Operators -----------------------------------------------------------------------------------------------------------

local comparisons = { ["="] = true, ["<>"] = true, ["<"] = true, ["<="] = true, [">"] = true, [">="] = true, is = true,
  ["is not"] = true }

--- An operator between an expression and anything. Values that are compared are written to the database as the column on the left has them.
local function binary(left, op, right, place)
  local shape = left.shape
  local kind = type(right)
  if kind == "string" or kind == "number" or kind == "boolean" then
    if shape.count == 0 and not (shape.convert and comparisons[op]) then
      return setmetatable({ shape = shape.with_value[op] or shape_with_value(shape, op), right }, metatable)
    end
  elseif kind == "table" and getmetatable(right) == mark then
    return join(shape_with_shape(shape, op, right.shape), left, right)
  end
  if shape.convert and comparisons[op] and right ~= nil and not internal.is_request(right) then
    right = shape.convert(right)
  end
  right = operand(right, place)
  if right.shape == slot then return join(shape_with_value(shape, op), left, right) end
  return join(shape_with_shape(shape, op, right.shape), left, right)
end

--- An operation on one expression.
local function unary(self, op, detail)
  local shape = shape_alone(self.shape, op, detail)
  if shape.count == 0 then return setmetatable({ shape = shape }, metatable) end
  return setmetatable({ shape = shape, parts = { self } }, metatable)
end

--- A method that compares; NULL is compared by IS.
local function define_comparison(name, op, op_for_null)
  methods[name] = function(self, value)
    if value == internal.null then
      if op_for_null then return unary(self, op_for_null) end
      raise("argument", "column:" .. name .. ": nothing is " .. name .. " NULL; write `:is_null()` or `:is_not_null()`")
    end
    return binary(self, op, value, "column:" .. name)
  end
end

define_comparison("eq", "=", "is null")
define_comparison("ne", "<>", "is not null")
define_comparison("lt", "<")
define_comparison("le", "<=")
define_comparison("gt", ">")
define_comparison("ge", ">=")
define_comparison("is", "is", "is null")
define_comparison("is_not", "is not", "is not null")

function methods:is_null() return unary(self, "is null") end
function methods:is_not_null() return unary(self, "is not null") end

--- The operators of Lua, which stand for those of SQL; either side may be a value.
local function define_operator(event, op, symbol)
  metatable[event] = function(left, right)
    local place = "`" .. symbol .. "`"
    if not is_expression(left) then left = operand(left, place) end
    return binary(left, op, right, place)
  end
end

define_operator("__add", "+", "+")
define_operator("__sub", "-", "-")
define_operator("__mul", "*", "*")
define_operator("__div", "/", "/")
define_operator("__idiv", "//", "//")
define_operator("__mod", "%", "%")
define_operator("__concat", "||", "..")

function metatable.__unm(self) return unary(self, "negate") end

--- `&` and `|` take conditions on both sides.
local function define_connective(event, op, symbol)
  metatable[event] = function(left, right)
    for _, side in ipairs{ left, right } do
      if not is_expression(side) then
        raise("argument", "`" .. symbol .. "` stands between two conditions, got " .. internal.describe(side)
          .. (type(side) == "boolean" and ": write `column:eq(value)`, since == of Lua gives true or false" or ""))
      end
    end
    if left == nil or right == nil then raise("argument", "`" .. symbol .. "`: a condition is nil") end
    return join(shape_with_shape(left.shape, op, right.shape), left, right)
  end
end

define_connective("__band", "and", "&")
define_connective("__bor", "or", "|")

function metatable.__bnot(self) return unary(self, "not") end

-- Methods -------------------------------------------------------------------------------------------------------------

local function check_string(place, value, what)
  if type(value) ~= "string" or value == "" then
    raise("argument", place .. ": expected " .. what .. ", got " .. internal.describe(value))
  end
  return value
end

--- An operation over several operands, which may be values.
local function list_operation(op, detail, values, place)
  local expressions, shapes = {}, {}
  for index = 1, values.n or #values do
    local part = operand(values[index], place .. ": argument " .. index)
    expressions[index], shapes[index] = part, part.shape
  end
  return join_all(shape_of_list(op, shapes, detail), expressions)
end

--- SQL has no operator for powers.
function metatable.__pow(left, right)
  return list_operation("call", "pow", { left, right, n = 2 }, "`^`")
end

function methods:between(low, high)
  return list_operation("between", nil, { self, low, high, n = 3 }, "column:between")
end

local function define_pattern(name, op)
  methods[name] = function(self, pattern, escape)
    if escape == nil then return binary(self, op, pattern, "column:" .. name) end
    if type(escape) ~= "string" or utf8.len(escape) ~= 1 then
      raise("argument", "column:" .. name .. ": argument 2: expected one character, got " .. internal.describe(escape))
    end
    return list_operation(op, escape, { self, pattern, n = 2 }, "column:" .. name)
  end
end

define_pattern("like", "like")

function methods:glob(pattern) return binary(self, "glob", pattern, "column:glob") end
function methods:regexp(pattern) return binary(self, "regexp", pattern, "column:regexp") end

--- Full-text search: the pattern as FTS5 reads it, or one of perilune.full_text_pattern.
function methods:match(pattern) return binary(self, "match", pattern, "column:match") end

--- Text that is found as it is: `%` and `_` mean themselves. Case is treated as LIKE treats it.
local function define_text_search(name, before, after)
  methods[name] = function(self, text)
    if type(text) ~= "string" then
      raise("argument", "column:" .. name .. ": argument 1: expected a string, got " .. internal.describe(text))
    end
    return self:like(before .. text:gsub("[\\%%_]", "\\%0") .. after, "\\")
  end
end

define_text_search("contains", "%", "%")
define_text_search("starts_with", "", "%")
define_text_search("ends_with", "%", "")

--- One of the values of a list, or of those that a request selects. The empty list: none.
function methods:is_in(list) return internal.load("subquery").is_in(self, list, "column:is_in") end
function methods:is_not_in(list) return ~self:is_in(list) end

--- Compared and ordered as a collation says: "nocase", "rtrim", "localized_case_insensitive" (as people read it), or one that was added.
function methods:collating(name)
  return unary(self, "collate", internal.load("collations").name(check_string("column:collating", name, "a collation")))
end

function methods:as(name) return unary(self, "as", check_string("column:as", name, "a name")) end

local orders = { asc = "asc", desc = "desc" }

for name, op in pairs(orders) do
  methods[name] = function(self) return unary(self, op) end
end

for _, name in ipairs{ "nulls_first", "nulls_last" } do
  local op = name:gsub("_", " ")
  methods[name] = function(self)
    if not orders[self.shape.op] then self = self:asc() end
    return unary(self, op)
  end
end

local cast_types = { "integer", "real", "text", "blob", "numeric" }

function methods:cast(type_name)
  local wanted = type(type_name) == "string" and type_name:lower() or type_name
  for _, known in ipairs(cast_types) do
    if known == wanted then return unary(self, "cast", known) end
  end
  raise("argument", "column:cast: argument 1: expected one of " .. table.concat(cast_types, ", ") .. ", got "
    .. internal.describe(type_name))
end

-- Functions -----------------------------------------------------------------------------------------------------------

--- A call of an SQL function.
local function call(name, values, place)
  return list_operation("call", name, values, place)
end

--- Methods of the same name as the SQL function, with the expression as the first argument.
for _, name in ipairs{
  "lower", "upper", "length", "trim", "ltrim", "rtrim", "replace", "substr", "instr", "hex", "unicode", "typeof", "quote",
  "abs", "round", "sign", "coalesce", "ifnull", "nullif", "iif", "likely", "unlikely", "date", "time", "datetime", "julianday",
  "unixepoch", "json_extract", "json_type", "json_array_length", "json_set", "json_insert", "json_replace", "json_remove",
  "json_patch", "json_valid", "ceil", "floor", "sqrt", "pow", "exp", "ln", "log10", "log2", "mod", "trunc",
} do
  methods[name] = function(self, ...)
    return call(name, { self, n = select("#", ...) + 1, ... }, "column:" .. name)
  end
end

--- Formats a date as SQL's strftime does.
function methods:strftime(format, ...)
  return call("strftime", { format, self, n = select("#", ...) + 2, ... }, "column:strftime")
end

--- The value at a path in a JSON text: `$.address.city`, or `address` for `$.address`.
function methods:json(path)
  if math.type(path) == "integer" then path = path - 1 end
  if type(path) ~= "string" and math.type(path) ~= "integer" then
    raise("argument", "column:json: argument 1: expected a path (\"$.name\"), a name or a position, got "
      .. internal.describe(path))
  end
  return binary(self, "->>", path, "column:json")
end

-- Full-text search ----------------------------------------------------------------------------------------------------------

--- A function of FTS5 on the column of a full-text table, whose number it is told.
local function full_text_call(self, name, ...)
  local shape = self.shape
  if not shape.table then raise("argument", name .. ": expected a column of a full-text table: Class.c.column:" .. name .. "()") end
  local schema, position = internal.table_schema(internal.default_database(), shape.table), nil
  for index, column in ipairs(schema.columns) do
    if column.name == shape.detail then position = index - 1 end
  end
  local whole = expression.column(schema.name, shape.table, shape.alias)
  return call(name, table.pack(whole, position, ...), "column:" .. name)
end

--- The text of the column with what was found between two texts.
function methods:highlight(before, after)
  return full_text_call(self, "highlight", before or "<b>", after or "</b>")
end

--- The part of the column around what was found.
-- @tparam ?integer tokens how many words at most, up to 64
function methods:snippet(before, after, ellipsis, tokens)
  return full_text_call(self, "snippet", before or "<b>", after or "</b>", ellipsis or "…", tokens or 16)
end

-- Aggregates ----------------------------------------------------------------------------------------------------------

for name, sql_name in pairs{
  count = "count", sum = "sum", total = "total", average = "avg", min = "min", max = "max",
  json_group_array = "json_group_array",
} do
  methods[name] = function(self) return call(sql_name, { self, n = 1 }, "column:" .. name) end
end

function methods:count_distinct() return unary(self, "distinct call", "count") end
function methods:sum_distinct() return unary(self, "distinct call", "sum") end

--- All values in one text.
-- @tparam ?string separator a comma by default
function methods:group_concat(separator)
  return call("group_concat", { self, separator, n = separator ~= nil and 2 or 1 }, "column:group_concat")
end

--- Only the rows that fulfil a condition, for an aggregate.
function methods:where(condition)
  if not is_expression(condition) then
    raise("argument", "aggregate:where: argument 1: expected a condition, got " .. internal.describe(condition))
  end
  return join(shape_with_shape(self.shape, "filter", condition.shape), self, condition)
end

--- The value of a function over a window, which is written in SQL: `:over("PARTITION BY country ORDER BY name")`.
function methods:over(window)
  if window ~= nil and type(window) ~= "string" then
    raise("argument", "expression:over: argument 1: expected SQL text, got " .. internal.describe(window))
  end
  return unary(self, "over", window or "")
end

-- What is found in an expression -------------------------------------------------------------------------------------

local function names_of_methods()
  local names = {}
  for name in pairs(methods) do names[#names + 1] = name end
  table.sort(names)
  return names
end

function metatable.__index(_, name)
  local method = methods[name]
  if method ~= nil then return method end
  if type(name) == "number" then return nil end
  internal.raise_unknown("method", name, names_of_methods())
end

function metatable.__newindex(_, name)
  raise("readonly", "an expression cannot be changed: `" .. tostring(name) .. "` is set")
end

--- `a < b` of Lua, which it also asks for `b > a`: no condition can come of it.
local function define_comparison_error(event, symbol, method, mirrored)
  metatable[event] = function(left, right)
    local is_mirrored = not is_expression(left)
    local column, other = left, right
    if is_mirrored then column, other = right, left end
    local value = type(other) == "number" and tostring(other) or type(other) == "string" and ("%q"):format(other) or "value"
    raise("argument", "`" .. symbol .. "` of Lua gives true or false, which is no condition; write `" .. tostring(column) .. ":"
      .. (is_mirrored and mirrored or method) .. "(" .. value .. ")`")
  end
end

define_comparison_error("__lt", "<", "lt", "gt")
define_comparison_error("__le", "<=", "le", "ge")

function metatable.__eq(left, right)
  if rawequal(left.shape, right.shape) and left.shape.count == 0 then return true end
  raise("argument", "`==` of Lua gives true or false, which is no condition; write `column:eq(value)`")
end

function metatable.__call(self)
  raise("argument", tostring(self) .. " is an expression, not a function")
end

function metatable.__len(self)
  raise("argument", "# of an expression: write `" .. tostring(self) .. ":length()` for the length of a text")
end

function metatable.__tostring(self)
  return internal.inline_sql(self)
end

-- What makes expressions ---------------------------------------------------------------------------------------------

--- The expression of a column.
-- @tparam ?string table the table, or nil for a column of that name wherever it is found
-- @tparam ?string alias which of several sources of the table
-- @tparam ?function convert what turns values of the script into those of the database
-- @tparam ?boolean is_json whether these are JSON documents
function expression.column(name, table_name, alias, convert, is_json)
  local shape = new_shape("column", {}, name)
  shape.table, shape.alias, shape.convert, shape.is_json = table_name, alias, convert, is_json
  return setmetatable({ shape = shape }, metatable)
end

--- The expression of a column of a common table.
function expression.common_column(name, source, alias)
  local shape = new_shape("column", {}, name)
  shape.common, shape.alias = source, alias
  return setmetatable({ shape = shape }, metatable)
end

--- The names of the parameters in SQL text, outside of texts, names and comments.
local function parameters_of(text)
  if not text:find("[:@$]") then return {} end
  local bare = text:gsub("'[^']*'", "''"):gsub('"[^"]*"', '""'):gsub("%-%-[^\n]*", ""):gsub("/%*.-%*/", "")
  local names, known = {}, {}
  for name in bare:gmatch("[:@$]([%a_][%w_]*)") do
    if not known[name] then names[#names + 1], known[name] = name, true end
  end
  return names
end

--- SQL text with arguments, each of which may be an expression.
function expression.sql(text, arguments, place)
  check_string(place, text, "SQL text")
  if arguments.n == 1 and type(arguments[1]) == "table" and getmetatable(arguments[1]) == nil then
    return expression.named_sql(text, arguments[1], place)
  end
  local names = arguments.n == 0 and parameters_of(text) or {}
  if #names > 0 then
    local list = {}
    for index, name in ipairs(names) do list[index] = internal.perilune.parameter(name) end
    return list_operation("named sql", text .. "\0" .. table.concat(names, "\0"), list, place)
  end
  if arguments.n == 0 then
    local shape = root_shape("sql " .. text, function() return new_shape("sql", {}, text) end)
    return setmetatable({ shape = shape }, metatable)
  end
  return list_operation("sql", text, arguments, place)
end

--- The same with `:name` placeholders, or a list.
function expression.named_sql(text, values, place)
  if #values > 0 then return list_operation("sql", text, values, place) end
  local names, list = {}, {}
  for name in pairs(values) do names[#names + 1] = name end
  table.sort(names)
  for index, name in ipairs(names) do list[index] = values[name] end
  if #names == 0 then raise("argument", place .. ": an empty table of arguments") end
  return list_operation("named sql", text .. "\0" .. table.concat(names, "\0"), list, place)
end

function internal.perilune.sql(text, ...)
  return expression.sql(text, table.pack(...), "perilune.sql")
end

--- A column by its name, wherever the request has one of that name.
function internal.perilune.column(name)
  check_string("perilune.column: argument 1", name, "a name")
  return setmetatable({
    shape = root_shape("column " .. name, function() return new_shape("column", {}, name) end),
  }, metatable)
end

--- A column by its name, as it stands in the request or its result.
function expression.name(name)
  return internal.perilune.column(name)
end

--- What is given when a prepared request runs.
function internal.perilune.parameter(name)
  check_string("perilune.parameter: argument 1", name, "a name")
  return setmetatable({
    shape = root_shape("parameter " .. name, function() return new_shape("parameter", {}, name) end),
  }, metatable)
end

function internal.perilune.value(value)
  return operand(value, "perilune.value")
end

--- COUNT(*), for selections.
function internal.perilune.count()
  return setmetatable({ shape = root_shape("count all", function() return new_shape("count all", {}) end) }, metatable)
end

--- CASE WHEN: pairs of a condition and a value; `otherwise` for all else.
--
--     perilune.case{ { Track.c.seconds:lt(180), "short" }, { Track.c.seconds:lt(600), "long" }, otherwise = "epic" }
function internal.perilune.case(branches)
  if type(branches) ~= "table" or #branches == 0 then
    raise("argument", "perilune.case: expected a list of { condition, value }, got " .. internal.describe(branches))
  end
  local parts = { n = 0 }
  local function add(value) parts.n = parts.n + 1; parts[parts.n] = value end
  for index, branch in ipairs(branches) do
    if type(branch) ~= "table" or not is_expression(branch[1]) or branch[2] == nil then
      raise("argument", "perilune.case: branch " .. index .. ": expected { condition, value }")
    end
    add(branch[1])
    add(branch[2])
  end
  if branches.otherwise ~= nil then add(branches.otherwise) end
  return list_operation("case", branches.otherwise ~= nil and "else" or nil, parts, "perilune.case")
end

--- SQL functions by name, those of the script too: `perilune.fn.substr(column, 1, 3)`.
internal.perilune.fn = setmetatable({}, {
  __name = "SQL functions",
  __index = function(functions, name)
    check_string("perilune.fn", name, "the name of a function")
    local function made(...) return call(name, table.pack(...), "perilune.fn." .. name) end
    rawset(functions, name, made)
    return made
  end,
  __newindex = function()
    raise("readonly", "perilune.fn cannot be changed; db:add_function defines functions")
  end,
})

--- Whether a request gives any row, as a condition.
function internal.perilune.exists(request)
  return internal.load("subquery").exists(request, "perilune.exists")
end

expression.operand, expression.join, expression.join_all, expression.collect = operand, join, join_all, collect
expression.shape_of_list, expression.new_shape, expression.slot = shape_of_list, new_shape, slot
expression.metatable, expression.of_value, expression.is_storable = metatable, of_value, is_storable
expression.shape_with_value, expression.shape_with_shape = shape_with_value, shape_with_shape
expression.list_operation, expression.unary = list_operation, unary

return expression
