--- Conditions of requests: tables, expressions, SQL text, keys.

local null = require("perilune.native.values").null
local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local class_properties = require "perilune.requests.class_properties"
local record_fields = require "perilune.records.fields"
local checks = require "perilune.runtime.checks"
local marks = require "perilune.runtime.marks"
local sql_names = require "perilune.runtime.names"
local raise = errors.raise
local expression = require "perilune.expressions.expression"
local stored_dates = require "perilune.runtime.stored_dates"
local is_expression = marks.is_expression

local conditions = {}

--- Visits all equalities that a condition combines with AND: `visit(left, right, position, op)`, with the shapes of both sides. The
-- operator `op` is `=`; or `date =` for a date, whose first value is the stored text.
-- @tparam integer position the number of the request's values that precede the values of the condition; the visitor receives the number of
--   values that precede the equality
function conditions.each_equality(shape, position, visit)
  -- Chains of thousands of conditions nest on the left, so they are traversed in a loop.
  while shape.op == "and" do
    local left, right = shape.operands[1], shape.operands[2]
    conditions.each_equality(right, position + left.count, visit)
    shape = left
  end
  if shape.op == "=" or shape.op == "date =" then visit(shape.operands[1], shape.operands[2], position, shape.op) end
end

local function all_of(left, right)
  if not left then return right end
  return expression.join(expression.shape_with_shape(left.shape, "and", right.shape), left, right)
end

--- Returns whether a table is a single value of a column: a JSON document, or a table with names for the column's own type.
local function is_one_value(column, value)
  local shape = column.shape
  return shape.is_json or shape.convert and #value == 0 and next(value) ~= nil
end

--- Returns the place of a field in messages.
local function place_of(name) return "filter: `" .. name .. "`" end

--- Returns the condition `column = value` for a field in a table of conditions.
local function compare(column, value, name)
  local kind = type(value)
  if kind == "table" and getmetatable(value) == nil and not expression.is_storable(value) then
    if is_one_value(column, value) then return column:eq(value) end
    if column.shape.type and column.shape.type.form and value.year then
      raise("argument", place_of(name) .. ": expected a date, got a table; use perilune.date{ year = 2026, month = 3, day = 31 }")
    end
    require("perilune.requests.condition_mistakes").value(name, value, place_of(name))
    return require("perilune.expressions.subquery").is_in(column, value, place_of(name))
  elseif kind == "table" and marks.is_request(value) then
    return require("perilune.expressions.subquery").is_in(column, value, place_of(name))
  elseif kind == "function" or kind == "thread" then
    raise("argument", place_of(name) .. ": expected a value, a list or a request, got " .. errors.describe(value)
      .. (kind == "function" and "; use filter(Class.c." .. name .. ":gt(value)) for a comparison" or ""))
  end
  if is_expression(value) and value.shape.operands[1] == column.shape and value.shape.op ~= "column" and column.shape.held ~= "booleans"
    and conditions.is_condition(value.shape) then
    raise("argument", place_of(name) .. ": expected a value, got a condition; use filter(Class.c." .. name .. ":gt(value)), without braces")
  end
  return column:eq(value)
end

local condition_operators = {}
for _, op in ipairs{ "=", "<>", "<", "<=", ">", ">=", "is", "is not", "is null", "is not null", "in", "in json", "in days", "in request", "between", "like",
  "glob", "regexp", "match", "date =", "date <>", "not" } do condition_operators[op] = true end

--- Returns whether an expression is a condition.
function conditions.is_condition(shape) return condition_operators[shape.op] == true end

local function check_key(key, value, method)
  if type(key) == "string" then return end
  if type(key) == "number" and type(value) == "boolean" then
    raise("argument", method .. "{...}: expected columns with values, got " .. tostring(value)
      .. "; use `{ column = value }`, with one `=`, or `column:eq(value)`")
  end
  if type(key) == "number" and (is_expression(value) or type(value) == "table" and getmetatable(value) == nil) then
    raise("argument", method .. "{...}: expected columns with values, got a list of conditions; use " .. method .. "(first, second) if both must hold, "
      .. "first | second for either")
  elseif type(key) == "number" and type(value) == "string" and value:find("[<>=?]") then
    raise("argument", ("%s{...}: expected columns with values, got SQL in a list; use %s(%q, ...), without braces"):format(method, method, value))
  end
  if type(key) == "number" then
    raise("argument", method .. "{...}: expected columns with values, got a list; use `filter_key{...}` for primary keys, "
      .. "`column:is_in{...}` for others")
  end
  raise("argument", method .. "{...}: expected the name of a column, got " .. errors.describe(key))
end

--- Returns the column names in sorted order, so that the SQL is always the same.
local function sorted_names(condition, method)
  local names, count = {}, 0
  for key in next, condition do
    check_key(key, condition[key], method)
    count = count + 1
    names[count] = key
  end
  table.sort(names)
  return names
end

--- Returns the condition for a field that is not a column: the name of an association, or a path of associations to a column. A path is
-- combined with all other fields that begin with the same association. Returns nothing if no such association exists.
local function of_association(self, name, condition, done)
  local of = require("perilune.requests.request").association_condition
  if self.node.is_result or not of then return nil end
  local first = name:match("^([^.]+)%.")
  if not first then return of(self, name, condition[name], nil, place_of(name)) end
  local found = {}
  for other, value in next, condition do
    local rest = type(other) == "string" and other:sub(1, #first + 1) == first .. "." and other:sub(#first + 2)
    if rest and rest ~= "" then found[rest], done[other] = value, true end
  end
  return next(found) ~= nil and of(self, first, nil, found, place_of(name)) or nil
end

--- The kinds of columns that contain no documents and no dates.
local is_of_numbers = { integers = true, floats = true, numbers = true, booleans = true }

--- Returns the shapes of the expressions that a request adds to the columns of its table.
local function annotations_of(node)
  local list = {}
  while node do
    if node.op == "annotate" then table.move(node.shape.operands, 1, #node.shape.operands, #list + 1, list) end
    node = node.parent
  end
  return list
end

--- Looks up a column again after it was not found, because another connection may have added it. The error suggests names of
-- associations too.
local function column_or_raise(self, name)
  local source = self.node.root.source
  local is_there, column = pcall(source.column, source, name, self.node.alias)
  if is_there then return column end
  if source.class then record_fields.check_is_field(source:schema(), name) end
  if column.kind == "unknown_column" then
    require("perilune.requests.condition_mistakes").field(name, "filter", function(other) return source:column_named(other) ~= nil end)
  end
  if column.kind == "unknown_column" then
    require("perilune.requests.joined_columns").check(self.node, name)
    local node = self.node
    while node and node.op ~= "select" do node = node.parent end
    for _, shape in ipairs(annotations_of(self.node)) do
      if shape.op == "as" and sql_names.same(shape.detail, name) then
        raise("unknown_column", ("filter: no column `%s` in `%s`; it is the name of an added expression: use "
          .. "filter(perilune.column(%q):eq(value))"):format(name, source.table, name), { name = name })
      end
    end
    for _, shape in ipairs(node and node.shape.operands or {}) do
      if shape.op == "as" and sql_names.same(shape.detail, name) then
        raise("unknown_column", ("filter: no column `%s` in `%s`; it is the name of a selected expression: use having(\"%s = ?\", value), or the expression "
          .. "itself, as in having(expression:eq(value))"):format(name, source.table, name), { name = name })
      end
    end
  end
  local names = source.class and column.kind == "unknown_column" and class_properties.association_names(source.class) or {}
  local first, rest = name:match("^([^.]+)%.(.+)$")
  local document = first and source:column_named(first)
  if document and (document.shape.is_json or document.shape.convert and not (document.shape.type and document.shape.type.form)) then
    raise("argument", ("filter: `%s` is not a column; use filter(Class.c.%s:json(%q):eq(value)) for a member of a JSON document"):format(name, first, rest))
  elseif document and not is_of_numbers[document.shape.held] then
    local meant = document.shape.type and document.shape.type.form and ":strftime(\"%Y\"):eq(\"2026\")" or (":json(%q):eq(value)"):format(rest)
    raise("argument", ("filter: `%s` is not a column, and `%s` has no columns of its own; use filter(Class.c.%s%s)"):format(name, first, first, meant))
  elseif first and sql_names.same(first, source.table) and source:column_named(rest) then
    raise("unknown_column", ("filter: no column `%s`; the columns of `%s` need no prefix, so use filter{ %s = value }"):format(name, first, rest), {
      name = name, suggestion = rest,
    })
  end
  if #names == 0 then error(column, 0) end
  if first then
    errors.raise_unknown("association", first, names)
  end
  local associated, column_of_it = name:match("^([%w_]-)__([%w_]+)$")
  if associated and class_properties.association(source.class, associated) then
    raise("unknown_column", ("filter: no column `%s`; use filter{ [\"%s.%s\"] = value }"):format(name, associated, column_of_it), { name = name })
  end
  require("perilune.requests.condition_mistakes").field(name, "filter", function(other) return source:column_named(other) ~= nil end)
  for _, other in ipairs(require("perilune.requests.named_expressions").names(source)) do names[#names + 1] = other end
  local schema = source.class and source:schema()
  for _, info in ipairs(schema and schema.columns or {}) do names[#names + 1] = info.name end
  errors.raise_unknown_column(name, source.table, names)
end

--- Returns the condition of a field that consists of several columns.
local function of_group(self, group, name, value)
  local result
  for _, part in ipairs(record_fields.parts(group, value, place_of(name))) do
    result = all_of(result, column_or_raise(self, part[1]):eq(part[2]))
  end
  return result
end

--- Raises for text that is compared with a column of booleans, because they are never equal.
local function check_boolean(source, column, name, value)
  if type(value) ~= "string" then return end
  local schema = source.class and source:schema()
  for _, info in ipairs(schema and schema.columns or {}) do
    if info.name == column.shape.detail and info.content == "boolean" then
      raise("argument", ("%s: expected true or false, got %s"):format(place_of(name), errors.describe(value)))
    end
  end
end

--- Returns the condition for a field in a table of conditions.
-- @tparam table done receives the other fields that this condition covers too
local function of_field(self, name, condition, done)
  local node = self.node
  local group = not node.is_result and node.root.source.computed and node.root.source:group(name)
  if group then return of_group(self, group, name, condition[name]) end
  local column = node.is_result and expression.name(name) or not node.is_result and node.root.source:column_named(name, node.alias)
  if column then
    if not node.is_result then check_boolean(node.root.source, column, name, condition[name]) end
    return compare(column, condition[name], name)
  end
  return of_association(self, name, condition, done) or compare(column_or_raise(self, name), condition[name], name)
end

--- Returns the condition that all fields of `{ column = value, ... }` match.
local function of_table(self, method, condition)
  local first = next(condition)
  if first == nil then
    raise("argument", method .. "{}: an empty table is not a condition; omit it, or use all(); a field that is nil does not exist, so use perilune.null for NULL")
  elseif next(condition, first) == nil then
    check_key(first, condition[first], method)
    return of_field(self, first, condition, {})
  end
  local result, done = nil, {}
  for _, name in ipairs(sorted_names(condition, method)) do
    if not done[name] then result = all_of(result, of_field(self, name, condition, done)) end
  end
  return result
end

--- Returns a condition in which columns of dates that were given by name are compared with dates.
function conditions.resolve_dates(self, condition)
  local node = self.node
  -- The usual condition, whose shape is known to have no such column.
  if condition.shape.compares_bare == false or node.is_result then return condition end
  return require("perilune.expressions.date_comparisons").resolve(condition, function(name)
    local column = node.root.source:column_named(name, node.alias)
    return column and column.shape.op == "column" and column.shape.type and column.shape.type.form and column or nil
  end)
end

local boolean_cure = ": `==` and `not` of Lua are evaluated before SQL sees them; use `column:eq(value)` or { column = value }, and "
  .. "`~column` for NOT"

--- Returns whether the conditions of the request can name only columns of its own table: it has no joins and no selected names.
local function has_one_table(self)
  local node = self.node
  if node.is_result then return false end
  while node.parent do
    if node.op ~= "filter" and node.op ~= "order" and node.op ~= "limit" and node.op ~= "distinct" then return false end
    node = node.parent
  end
  return node.op == "table"
end

--- Raises for a column of texts or dates in place of a condition, because SQL takes the number at their beginning for a truth value.
local function check_column_is_truth(shape, method)
  if shape.op ~= "column" or shape.held ~= "texts" and not (shape.type and shape.type.form) then return end
  raise("argument", ("%s: the column `%s` is not a condition; use %s(Class.c.%s:eq(value)), or :is_not_null()"):format(method, shape.detail,
    method, shape.detail))
end

--- Raises for a column, arithmetic or text in place of a condition. Shapes that have passed have the field `is_truth`.
local function check_is_truth(condition, method)
  local shape = condition.shape
  if shape.op == "column" then return check_column_is_truth(shape, method) end
  if shape.is_truth then return end
  require("perilune.requests.condition_mistakes").untrue(shape, method, check_column_is_truth, conditions.is_condition)
end

--- Returns SQL text as a condition.
local function of_text(self, method, text, values)
  local mistakes = require "perilune.requests.condition_mistakes"
  mistakes.text(method, text, values, function(name)
    if method ~= "filter" or not has_one_table(self) then return end
    local source = self.node.root.source
    local is_column, err = pcall(source.column, source, name, self.node.alias)
    if is_column and err.shape.op == "named expression" then
      raise("argument", ("%s(%q): SQL text cannot use a named expression; use filter(Class.c.%s), or filter{ %s = value }"):format(method, text, name, name))
    elseif is_column then return check_column_is_truth(err.shape, method) end
    raise(err.kind, ("%s(%q): %s; use filter_key(%q) for a key, filter{ column = value } for a value"):format(method, text, err.message, name),
      { name = name, suggestion = err.suggestion, table = err.table })
  end)
  values = mistakes.compared_values(method, text, values, function(name)
    local node = self.node
    local column = not node.is_result and node.root.source:column_named(name, node.alias)
    local shape = column and column.shape
    return shape and (shape.type and shape.type.form or shape.held == "booleans" and "boolean") or nil
  end)
  return expression.sql(text, values, method)
end

--- Returns a condition that was given by a script as an expression.
local function read_one(self, method, condition)
  if type(condition) == "string" then return of_text(self, method, condition, { n = 0 }) end
  if is_expression(condition) then
    if condition.shape == expression.slot then
      raise("argument", method .. ": expected a condition, got a value, which is true or false for all rows")
    end
    check_is_truth(condition, method)
    return conditions.resolve_dates(self, condition)
  elseif condition == nil then
    raise("argument", method .. "(nil): expected a condition; check the spelling of names, or omit it for all rows")
  elseif type(condition) == "boolean" then
    raise("argument", method .. "(" .. tostring(condition) .. ")" .. boolean_cure)
  elseif marks.is_request(condition) or marks.is_association(condition) then
    raise("argument", method .. ": expected a condition, got " .. errors.describe(condition)
      .. "; use perilune.exists(request) or column:is_in(request)")
  elseif type(condition) == "table" and not expression.is_storable(condition) then
    if getmetatable(condition) ~= nil then
      raise("argument", method .. ": expected a condition, got " .. errors.describe(condition)
        .. "; use filter{ association = record }, or filter_key(record.id)")
    end
    return of_table(self, method, condition)
  elseif type(condition) == "function" or type(condition) == "thread" then
    raise("argument", method .. ": expected a condition, got " .. errors.describe(condition) .. "; use filter(Class.c.name:eq(value))")
  end
  require("perilune.requests.condition_mistakes").key(method, condition)
end

--- Returns the condition that all conditions given by a script hold. The first may also be SQL text with arguments.
-- @tparam table self the request
-- @tparam string method the name of the called method, for messages
function conditions.read(self, method, condition, ...)
  local count = select("#", ...)
  if count == 0 then return read_one(self, method, condition) end
  if type(condition) == "string" then return of_text(self, method, condition, table.pack(...)) end
  local result = read_one(self, method, condition)
  for index = 1, count do
    local other = select(index, ...)
    if result.shape.op == "column" and type(other) ~= "table" and index == 1 then
      raise("argument", ("%s: a column and a value are no condition; use %s(Class.c.%s:eq(value))"):format(method, method, tostring(result.shape.detail)))
    elseif other == nil or type(other) == "number" then
      raise("argument", ("%s: argument %d: expected a condition, got %s; arguments follow only SQL text"):format(method, index + 1, errors.describe(other)))
    end
    result = all_of(result, read_one(self, method, other))
  end
  return result
end

-- Keys ------------------------------------------------------------------------------------------------------------------

local function raise_key(self, method, key)
  local cure = type(key) == "table" and getmetatable(key) == nil and #key > 0 and "; use filter_key{...}:fetch_all() for several keys"
    or type(key) == "table" and getmetatable(key) == nil and next(key) ~= nil and "; use filter{ column = value } for other columns"
    or native_records.class_of(key) and "; use record.id" or ""
  local names = {}
  for index, column in ipairs(self.node.root.source:key(self.node.alias)) do names[index] = column.shape.detail end
  local form = #names == 1 and "a value of `" .. names[1] .. "`"
    or "{ " .. table.concat(names, " = ..., ") .. " = ... }"
  raise("argument", method .. ": the key of `" .. self.node.root.source.table .. "` is " .. form .. ", got "
    .. errors.describe(key) .. cure)
end

--- Returns the values of a key in the order of its columns.
local function key_values(self, columns, key, method)
  local is_value = type(key) ~= "table" or expression.is_storable(key)
  -- An object can be a value of the column's own type.
  if #columns == 1 and (is_value or columns[1].shape.convert and getmetatable(key) ~= nil) then return { key } end
  if type(key) ~= "table" or getmetatable(key) ~= nil then raise_key(self, method, key) end
  local values, count = {}, 0
  for index, column in ipairs(columns) do
    local value = key[column.shape.detail]
    if value == nil then value = key[index] end
    if value == nil then raise_key(self, method, key) end
    values[index] = value
  end
  for _ in next, key do count = count + 1 end
  if count > #columns then raise_key(self, method, key) end
  return values
end

--- Returns the condition that a column of the key has a value. The row may store an instant with a `T`.
local function has_key(column, value)
  local type = column.shape.type
  local texts = type and type.form == "instant" and not is_expression(value) and stored_dates.read("instant", value)
  if not texts then return column:eq(value) end
  local operands = {}
  for index, text in ipairs(stored_dates.spellings_of_key(texts, value)) do operands[index] = expression.of_value(text) end
  return require("perilune.expressions.date_comparisons").equality("=", "instant", column, operands)
end

--- Returns the condition that the primary key of a row equals the given one.
function conditions.of_key(self, key, method)
  local columns = self.node.root.source:key(self.node.alias)
  local kind = type(key)
  if (kind == "number" or kind == "string") and #columns == 1 then return has_key(columns[1], key) end
  if key == nil then raise("argument", method .. ": the key is nil") end
  local result
  for index, value in ipairs(key_values(self, columns, key, method)) do
    if value == null then raise("argument", method .. ": a key cannot be NULL") end
    result = all_of(result, has_key(columns[index], value))
  end
  return result
end

--- Returns whether a value is a list of keys, which may be empty. A list of values is one key if the key has several columns.
function conditions.are_keys(self, value)
  if type(value) ~= "table" or getmetatable(value) ~= nil or expression.is_storable(value) then return false end
  if next(value) == nil then return true end
  if value[1] == nil then return false end
  return #self.node.root.source:key(self.node.alias) == 1 or type(value[1]) == "table" and not expression.is_storable(value[1])
end

--- Returns the condition that a row has one of several primary keys.
function conditions.of_keys(self, keys, method)
  if type(keys) ~= "table" or getmetatable(keys) ~= nil then
    raise("argument", method .. ": expected a list of keys, got " .. errors.describe(keys))
  end
  local columns = self.node.root.source:key(self.node.alias)
  if next(keys) ~= nil and #keys == 0 then raise_key(self, method, keys) end
  checks.list_length(method, "a list of keys", keys)
  if #columns == 1 then
    local list = {}
    for index, key in ipairs(keys) do list[index] = key_values(self, columns, key, method)[1] end
    return columns[1]:is_in(list)
  end
  local result
  for _, key in ipairs(keys) do
    local condition = conditions.of_key(self, key, method)
    result = result and expression.join(expression.shape_with_shape(result.shape, "or", condition.shape), result, condition)
      or condition
  end
  return result or columns[1]:is_in{}
end

return conditions
