--- Requests: descriptions of what to fetch, as values that scripts define, derive and store.
--
--     local request = Author:filter{ country = "France" }:order("name"):limit(10)
--
-- A request consists of a node and of the values in its conditions. The node describes everything else: the node it was derived from, the
-- method and its arguments. Equal derivations lead to the same node, so that a request is checked and compiled only once even if a script
-- builds it repeatedly. Nodes are passed to Swift when they are new, and after schema changes.

local errors = require "perilune.native.errors"
local arity = require "perilune.runtime.arity"
local native_records = require "perilune.native.records"
local marks = require "perilune.runtime.marks"
local receivers = require "perilune.runtime.receivers"
local raise = errors.raise
local expression = require "perilune.expressions.expression"
local shapes = require "perilune.expressions.shapes"
local collect = expression.collect
local is_expression = marks.is_expression
local math_type = math.type
local aggregate_names = require "perilune.expressions.aggregate_names"
local sql_names = require "perilune.runtime.names"

local registry = require "perilune.runtime.registry"
local nodes = require "perilune.requests.nodes"
local unused, node_with_shape, node_with_detail, node_with_node = nodes.unused, nodes.with_shape, nodes.with_detail, nodes.with_node

local request = {
  new_node = nodes.new_node, unused = nodes.unused, child_like = nodes.child_like, compounds = nodes.compounds, final = nodes.final,
  --- Methods of classes and of common tables that other modules add. Their first argument is the class, or the source of the common table.
  class_methods = {},
  --- Fetches requests that include associations: `fetch_associated(request, db, plan)`. Set by the associations modules.
  fetch_associated = nil,
  --- Iterates over the rows of such requests. Set by the associations modules.
  iterate_associated = nil,
  --- Returns the condition for a field that is not a column: `association_condition(request, name, value, path, place)`. Set by the
  -- associations modules.
  association_condition = nil,
}

--- The methods of all requests; associations share `derivations`.
local derivations, verbs = {}, {}
request.derivations, request.verbs = derivations, verbs

request.add_derivations, request.add_verbs = registry.adding_to(derivations), registry.adding_to(verbs)
request.add_class_methods, request.add_final_forms = registry.adding_to(request.class_methods), registry.adding_to(request.final)

-- Deriving ------------------------------------------------------------------------------------------------------------

local unpack = table.unpack

--- Returns a table with the node and the values of `self` up to position `count`, created in one step because growing a table is slower.
local function copy(self, node, count)
  if count == unused then return { node = node, nil, nil } end
  if count == unused + 1 then return { node = node, nil, nil, self[unused + 1] } end
  return { node = node, nil, nil, unpack(self, unused + 1, count) }
end

--- Returns the request of a node with the values of `self`.
local function derive(self, node)
  return setmetatable(copy(self, node, node.count), node.metatable)
end

--- Returns the request with one more expression.
local function derive_with(self, op, added)
  local parent = self.node
  local node = node_with_shape(parent, op, added.shape)
  local result = copy(self, node, parent.count)
  collect(added, result, parent.count)
  return setmetatable(result, node.metatable)
end

local function derive_with_detail(self, op, detail)
  return derive(self, node_with_detail(self.node, op, detail))
end

--- Returns the request with another request in it.
local function derive_with_request(self, op, other, detail)
  local parent = self.node
  local node = node_with_node(parent, op, other.node, detail)
  local count = parent.count
  local result = copy(self, node, count)
  for index = 1, other.node.count - unused do result[count + index] = other[unused + index] end
  return setmetatable(result, node.metatable)
end

request.derive, request.derive_with, request.derive_with_detail = derive, derive_with, derive_with_detail
request.derive_with_request = derive_with_request

--- Returns the end of a message about a column that was given as a field, as in `order{ name = "desc" }` or `select{ name = true }`.
local function named_column_cure(method, key)
  if method == "order" or method == "then_order" then return ("; use %s(Class.c.%s:desc()), or %s(%q)"):format(method, key, method, key) end
  if method == "group" then return ("; use group(%q)"):format(key) end
  return ("; use %s(%q) for a column, %s(expression:as(%q)) to name an expression"):format(method, key, method, key)
end

--- Returns the end of a message about an invalid value in a list of columns: the correct form.
local function column_cure(method, term)
  local is_order = method == "order" or method == "then_order"
  if type(term) == "function" then return "; a method is called with a colon, as in Class.c.name:desc()" end
  if type(term) == "boolean" and is_order then return "; use order(Class.c.name:desc()), or order(\"name DESC\")" end
  local is_plain = type(term) == "table" and getmetatable(term) == nil
  if is_order and is_plain then return "; use order(Class.c.name:desc()), or order(\"name DESC\")" end
  if is_order and type(term) == "number" then return "; use order(\"name\"), or order(\"random()\") for a random order" end
  if type(term) == "number" and method == "annotated_with" then return "; use an aggregate of an association, as in Class.association:sum(\"column\")" end
  if is_plain then return "; use distinct():pluck(\"column\") for distinct values" end
  return ""
end

--- Raises if a list of columns has named fields, which would be ignored.
local function check_list(method, list)
  for key in next, list do
    if math_type(key) ~= "integer" or key < 1 or key > #list then
      raise("argument", method .. ": expected a list of columns, got a field " .. errors.describe(key)
        .. (key == "desc" and ", which is not an option; use Class.c.name:desc()" or type(key) == "string" and named_column_cure(method, key) or ""))
    end
  end
end

--- Methods whose terms have names.
local naming_methods = { select = true, annotated_with = true }

--- Splits SQL that ends with `AS name`; returns nil for other texts.
local function split_name(text)
  local sql, name = text:match("^(.-)%s+[aA][sS]%s+([%a_][%w_]*)%s*$")
  if not sql then sql, name = text:match('^(.-)%s+[aA][sS]%s+"([^"]+)"%s*$') end
  if sql and sql:find("%S") then return sql, name end
end

--- The methods for clauses of SQL.
local clause_methods = {
  where = "filter(%q)", ["order by"] = "order(%q)", ["group by"] = "group(%q)", having = "having(%q)", select = "select(%q)", limit = "limit(count)",
}

--- Raises for a clause of SQL in place of a column, unless a column has this text as its name.
local function check_is_no_clause(self, method, text)
  local words, rest = text:match("^%s*(%a+)%s+(.-)%s*$")
  if not words then return end
  words = words:lower()
  if (words == "order" or words == "group") and rest:lower():find("^by%s") then words, rest = words .. " by", rest:match("^%a+%s+(.*)$") end
  local use = clause_methods[words]
  if use and not self.node.root.source:column_named(text, self.node.alias) then
    raise("argument", ("%s: expected columns, got the clause %q; use %s"):format(method, text, use:format(rest)))
  end
end

--- Returns the term of a string: a column, or SQL text, which may end with a name.
local function term_of_text(self, text, method)
  local sql, name
  if text:find(" ", 1, true) then check_is_no_clause(self, method, text) end
  local distinct = text:match("^%s*[dD][iI][sS][tT][iI][nN][cC][tT]%s+(.-)%s*$")
  if distinct then raise("argument", ("%s: DISTINCT is not part of a column; use select(%q):distinct()"):format(method, distinct)) end
  if naming_methods[method] then sql, name = split_name(text) end
  if not sql then return request.term(self, text, method) end
  return request.term(self, sql, method):as(name)
end

--- Gives aggregates without a name the names that annotations have: `total_sum`, `count`. An aggregate stays without a name if the
-- table or another term has that name.
local function name_aggregates(self, list, shapes)
  local taken = {}
  for _, shape in ipairs(shapes) do
    if shape.op == "as" or shape.op == "column" or shape.op == "named expression" then taken[sql_names.fold(shape.detail)] = true end
  end
  for index, shape in ipairs(shapes) do
    local name = aggregate_names.of(shape)
    local key = name and sql_names.fold(name)
    local is_column = name and not self.node.is_result and self.node.root.source:column_named(name, self.node.alias)
    if name and not taken[key] and not is_column then
      list[index] = list[index]:as(name)
      shapes[index], taken[key] = list[index].shape, true
    end
  end
end

local orders = { order = true, then_order = true }

--- Raises for the negative value of a column of texts or dates, which is the same for all rows.
local function check_is_number(method, shape)
  if shape.op ~= "column" or shape.held ~= "texts" and not (shape.type and shape.type.form) then return end
  raise("argument", ("%s: `%s` contains no numbers, whose negative value would reverse the order; use %s(Class.c.%s:desc())"):format(method,
    shape.detail, method, shape.detail))
end

--- Returns the expressions of a list of columns, given as names, expressions or SQL text.
local function terms(self, method, given)
  if given.n == 0 then
    raise("argument", method .. ": expected at least one argument" .. (method == "select" and "; without select, all columns are fetched" or ""))
  end
  local list, shapes = {}, {}
  local names = given.n == 1 and type(given[1]) == "table" and getmetatable(given[1]) == nil and given[1] or given
  if names ~= given then check_list(method, names) end
  for index = 1, names.n or #names do
    local term = names[index]
    if type(term) == "string" then
      term = term_of_text(self, term, method)
    elseif marks.is_association(term) then
      raise("argument", method .. ": argument " .. index .. ": expected a column, got an association"
        .. (method == "annotated_with" and "; use Class.association:count() for the number of its rows, including_all(Class.association) "
        .. "for the rows" or ""))
    elseif not is_expression(term) then
      if marks.is_request(term) then term = expression.operand(term, method)
      else
        raise("argument", method .. ": argument " .. index .. ": expected a column (its name, or an expression), got "
          .. errors.describe(term) .. column_cure(method, term))
      end
    end
    if orders[method] and term.shape.op == "negate" then check_is_number(method, term.shape.operands[1]) end
    list[index], shapes[index] = term, term.shape
  end
  if #list == 0 then raise("argument", method .. ": the list is empty") end
  if naming_methods[method] then name_aggregates(self, list, shapes) end
  return expression.join_all(expression.shape_of_list("terms", shapes), list)
end

request.terms = terms

--- Returns whether a selected column was named by `as`. An order by that name refers to the selected column, as in SQL.
local function selects_name(node, name)
  if not node.selects then return false end
  while node.op ~= "select" do
    if request.compounds[node.op] then return false end
    node = node.parent
  end
  for _, shape in ipairs(node.shape.operands) do
    if shape.op == "as" and shape.detail:lower() == name:lower() then return true end
  end
  return false
end

--- Raises for text in place of an order: a direction in the notation of another library, or a function of another database.
local function check_order(method, text)
  local name, direction = text:match("^([%a_][%w_]*)[:.](%a+)$")
  direction = direction and direction:lower()
  if direction == "desc" or direction == "asc" then
    raise("argument", ("%s: %q is not a column; use %s(\"%s %s\")"):format(method, text, method, name, direction:upper()))
  elseif text:find("^[rR][aA][nN][dD]%s*%(%s*%)%s*$") then
    raise("argument", ("%s: SQL has no function `rand`; use %s(\"random()\")"):format(method, method))
  end
end

--- Returns whether a text is the name of a column that the request adds or reads from another result.
local function names_column(node, text)
  while node do
    if node.is_result then return true end
    for _, shape in ipairs((node.op == "annotate" or node.op == "select") and node.shape.operands or {}) do
      if shape.op == "as" and shape.detail:lower() == text:lower() then return true end
    end
    node = node.parent
  end
  return false
end

--- Words that may follow or precede an operand in SQL text of two words.
local operator_words = { isnull = true, notnull = true, ["end"] = true, ["not"] = true, asc = true, desc = true, distinct = true }

--- Raises for a name after a column or a call without AS.
local function check_alias(method, text)
  local sql, name = text:match("^%s*([%w_.]+)%s+([%a_][%w_]*)%s*$")
  if not sql then sql, name = text:match("^%s*([%a_][%w_]*%b())%s+([%a_][%w_]*)%s*$") end
  if not sql or operator_words[name:lower()] or operator_words[sql:lower()] then return end
  raise("argument", ("%s: a name follows AS; use %s(\"%s AS %s\")"):format(method, method, sql, name))
end

--- Raises for text that contains several columns, because it would count as a single term.
local function check_is_one_column(method, text)
  if not text:find(",", 1, true) then return end
  local rest = text:gsub("'[^']*'", ""):gsub('"[^"]*"', ""):gsub("%b()", "")
  if rest:find(",", 1, true) then
    raise("argument", ("%s: %q names several columns; each is an argument of its own, as in %s(\"name\", %s)"):format(method, text, method,
      method == "group" and "\"country\"" or "\"SUM(total) AS sum\""))
  end
end

--- Returns a name or SQL text as an expression: a column of the request's table if one has that name.
function request.term(self, text, method)
  if orders[method] and selects_name(self.node, text) then return expression.name(text) end
  local column = not self.node.is_result and self.node.root.source:column_named(text, self.node.alias)
  if column then return column end
  if orders[method] then check_order(method, text) end
  if text == "*" or text:find(".*", 1, true) and text:find("^[%w_]+%.%*$") then
    raise("argument", method .. ": `*` is not a column; without select, all columns are fetched, and perilune.count() counts rows")
  elseif orders[method] and text:find("^[-!]%s*[%a_][%w_]*$") then
    local name = text:match("[%w_]+")
    if selects_name(self.node, name) or names_column(self.node, name) then
      raise("argument", ("%s: %q is the negative value of a selected column; use %s(\"%s DESC\") for the descending order"):format(method, text, method, name))
    end
    raise("argument", ("%s: %q is the negative value of the column; use %s(Class.c.%s:desc()) for the descending order"):format(method, text, method, name))
  elseif orders[method] and (text:lower() == "desc" or text:lower() == "asc") then
    raise("argument", ("%s: `%s` is not a column; use %s(Class.c.name:%s()), or %s(\"name %s\")"):format(method, text, method, text:lower(), method, text:upper()))
  end
  if naming_methods[method] and not names_column(self.node, text) then check_alias(method, text) end
  if naming_methods[method] or method == "group" then check_is_one_column(method, text) end
  if text:match("^[%a_][%w_]*$") then
    if not self.node.is_result then
      self.node.root.source:check_is_column(text)
      if self.node.parent then require("perilune.requests.joined_columns").check(self.node, text) end
    end
    return expression.name(text)
  end
  return expression.sql(text, { n = 0 }, method)
end

--- Raises if a derivation is called on neither a request nor an association.
local function check_receiver(method, self)
  if not marks.is_request(self) and not marks.is_association(self) then receivers.refuse(receivers.kinds.request, method, self) end
end

--- Returns the type of a request that selects one column and is used as a value.
function shapes.type_of_request(node) return require("perilune.requests.value_types").of_scalar(node) end

-- Conditions ----------------------------------------------------------------------------------------------------------

local conditions = require "perilune.requests.conditions"

-- For the most common condition, a column with a value that is stored unchanged, records.derivation finds the derived request without
-- creating an expression. The following code handles the first use of such a condition, and stores the result for records.derivation.

--- The lists of nodes that records.derivation reads, by the type of the value.
local lists = { string = "strings", number = "numbers", boolean = "booleans" }

--- Stores a derived node under a name, in a list of its parent.
local function store(parent, list, name, node)
  local nodes_by_name = parent[list] or {}
  parent[list], nodes_by_name[name] = nodes_by_name, node
end

--- Returns whether a condition is just a column, `=` and a value that needs no conversion.
local function is_plain_comparison(added)
  local shape = added.shape
  local left = shape.operands[1]
  return shape.op == "=" and shape.operands[2] == expression.slot and left.op == "column" and not left.convert and not (left.type and left.type.form)
end

--- Returns the request for a table of columns and values.
local function filter_table(self, condition)
  local name, value = next(condition)
  local added = conditions.read(self, "filter", condition)
  local result = derive_with(self, "filter", added)
  local list = next(condition, name) == nil and lists[type(value)]
  if list and is_plain_comparison(added) then store(self.node, list, name, result.node) end
  return result
end

derivations.filter = native_records.derivation("filter", function(self, condition, ...)
  check_receiver("filter", self)
  local kind = type(condition)
  if kind == "table" and select("#", ...) == 0 then
    local mark = getmetatable(condition)
    if mark == nil then return filter_table(self, condition) end
    if mark == "expression" and condition.shape.is_truth then
      return derive_with(self, "filter", conditions.resolve_dates(self, condition))
    end
  end
  return derive_with(self, "filter", conditions.read(self, "filter", condition, ...))
end)

--- Returns a request for the row with a primary key, or for the rows with the keys of a list. Keys of several columns are given as
-- `{ column = value, ... }`, or as a list in column order.
derivations.filter_key = native_records.derivation("filter_key", function(self, key, surplus)
  check_receiver("filter_key", self)
  if surplus ~= nil then arity.refuse("filter_key", 1, surplus, "use filter_key{ 1, 2 } for several keys") end
  local parent, generation = self.node, native_records.current_generation()
  local added = (conditions.are_keys(self, key) and conditions.of_keys or conditions.of_key)(self, key, "filter_key")
  local result = derive_with(self, "filter", added)
  if math_type(key) == "integer" and rawequal(result[parent.count + 1], key) and is_plain_comparison(added) then
    parent.key_generation, parent.key_node = generation, result.node
  end
  return result
end)

function derivations:having(condition, ...)
  return derive_with(self, "having", conditions.read(self, "having", condition, ...))
end

--- Returns a request for no rows.
function derivations:none()
  return derive_with_detail(self, "none", true)
end

--- Returns the request itself, so that code that starts with a class also works with a request.
function derivations:all()
  return self
end

--- Filters the rows of a full-text table by a pattern. perilune.fts5_pattern creates patterns from user input.
function derivations:matching(pattern)
  local source = self.node.root.source
  local schema, former = source:schema()
  local known = schema or former
  -- If the table is not known yet, an unknown column is reported later.
  local alias = self.node.alias
  local whole = not known and source:column(source.table, alias) or known and source:column_named(known.name, alias)
  if not whole then
    raise("argument", "matching: `" .. source.table .. "` is not a full-text table; use column:match(pattern) with a column of a full-text table")
  end
  return derive_with(self, "filter", whole:match(pattern))
end

-- Order, limit, columns -------------------------------------------------------------------------------------------------

--- Orders the rows, replacing earlier orders.
derivations.order = native_records.derivation("order", function(self, first, ...)
  check_receiver("order", self)
  local node = self.node
  if type(first) == "string" and select("#", ...) == 0 then
    local column = not node.is_result and not selects_name(node, first) and node.root.source:column_named(first, node.alias)
    if column and column.shape.count == 0 then
      local ordered = node_with_shape(node, "order", column.shape)
      store(node, "by_order", first, ordered)
      return derive(self, ordered)
    end
  end
  return derive_with(self, "order", terms(self, "order", table.pack(first, ...)))
end)

--- Adds terms to order rows that are equal in the current order.
function derivations:then_order(...)
  return derive_with(self, "then order", terms(self, "then_order", table.pack(...)))
end

function derivations:reversed() return derive_with_detail(self, "reversed", true) end
function derivations:unordered() return derive_with_detail(self, "unordered", true) end
function derivations:distinct() return derive_with_detail(self, "distinct", true) end

local function check_count(method, value, name, position)
  if math_type(value) == "integer" and value >= 0 then return value end
  local count = math.tointeger(value)
  if type(value) ~= "number" or not count then
    local cure = type(value) == "table" and getmetatable(value) == nil and "; use limit(count, offset)" or type(value) == "string" and tonumber(value)
      and "; use tonumber(text)" or ""
    raise("argument", ("%s: argument %d: expected an integer, got %s%s"):format(method, position or 1, errors.describe(value), cure))
  elseif count < 0 then
    raise("argument", method .. ": " .. name .. " cannot be negative: " .. count)
  end
  return count
end

--- Limits the number of rows, after skipping some.
derivations.limit = native_records.derivation("limit", function(self, count, offset, surplus)
  check_receiver("limit", self)
  if surplus ~= nil then arity.refuse("limit", 2, surplus) end
  local result = derive_with_detail(self, "limit", check_count("limit", count, "a limit"))
  if offset == nil then return result end
  return derive_with_detail(result, "offset", check_count("limit", offset, "an offset", 2))
end)

function derivations:offset(count)
  return derive_with_detail(self, "offset", check_count("offset", count, "an offset"))
end

--- Raises for a name in front of the expression that it is meant for.
local function check_name_follows(self, name, value)
  if type(name) ~= "string" or not is_expression(value) or value.shape.op == "column" or not name:find("^[%a_][%w_]*$") then return end
  if self.node.is_result or self.node.root.source:column_named(name, self.node.alias) then return end
  raise("argument", ("annotated_with: `%s` is not a column; use annotated_with(expression:as(%q)) to name an expression"):format(name, name))
end

--- Derives a request with an expression and a text, which is a column, or was meant as the name of the expression.
local function derive_with_name(self, op, method, first, second)
  local is_done, result = pcall(function() return derive_with(self, op, terms(self, method, { first, second, n = 2 })) end)
  if is_done then return result end
  local name = type(first) == "string" and first or second
  if type(result) ~= "string" and result.kind == "unknown_column" and result.name == name and not result.suggestion
    and not result.message:find(";", 1, true) then
    raise("unknown_column", ("%s: %s; use %s(expression:as(%q)) to name an expression"):format(method, result.message, method, name), {
      name = name,
    })
  end
  error(result, 0)
end

--- Returns whether the arguments are an expression and a text.
local function are_expression_and_text(count, first, second)
  return count == 2 and (type(second) == "string" and is_expression(first) or type(first) == "string" and is_expression(second))
end

--- Selects columns instead of the table's columns, so that results are plain rows.
function derivations:select(...)
  if are_expression_and_text(select("#", ...), ...) then return derive_with_name(self, "select", "select", ...) end
  return derive_with(self, "select", terms(self, "select", table.pack(...)))
end

--- Adds columns to the table's columns; results are still records. Associations annotate with their columns or aggregates.
function derivations:annotated_with(...)
  check_receiver("annotated_with", self)
  if select("#", ...) == 2 then check_name_follows(self, ...) end
  if are_expression_and_text(select("#", ...), ...) then return derive_with_name(self, "annotate", "annotated_with", ...) end
  local result = derive_with(self, "annotate", terms(self, "annotated_with", table.pack(...)))
  return result
end

function derivations:group(...)
  local columns = terms(self, "group", table.pack(...))
  for index, column in ipairs(columns.parts) do columns.parts[index] = expression.grouped(column) end
  local grouped = {}
  for index, column in ipairs(columns.parts) do grouped[index] = column.shape end
  return derive_with(self, "group", expression.join_all(expression.shape_of_list("terms", grouped), columns.parts))
end

--- Sets an alias for the request's table that expressions can refer to: `Employee:aliased("boss").c.name`.
function derivations:aliased(name)
  if type(name) ~= "string" or name == "" then
    raise("argument", "aliased: argument 1: expected a name, got " .. errors.describe(name))
  end
  return derive_with_detail(self, "alias", name)
end

-- Combining requests -----------------------------------------------------------------------------------------------------

for method, op in pairs{ union = "union", union_all = "union all", intersect = "intersect", except = "except" } do
  verbs[method] = function(self, given)
    local other = request.of(given)
    if not other then
      raise("argument", method .. ": argument 1: expected a request, got " .. errors.describe(given))
    end
    return derive_with_request(self, op, other)
  end
end

arity.limit(verbs, "", { union = 1, union_all = 1, intersect = 1, except = 1 })
arity.limit(derivations, "", {
  none = 0, all = 0, matching = 1, reversed = 0, unordered = 0, distinct = 0, offset = 1,
  aliased = 1,
}, {
  distinct = "use select(\"column\"):distinct()", matching = "use the class of the full-text table: perilune.record(\"name\"):matching(pattern)",
})

return request
