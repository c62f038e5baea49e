--- Pages that begin behind a row instead of at a number: they cost the same however far they are, and rows that come and go before them
-- change nothing.
--
--     local page = Book:order("year"):page_after(nil, 20)
--     page.records, page.next, page.previous
--     Book:order("year"):page_after(page.next, 20)
--
-- Where the order may leave rows equal, the primary key follows it, descending where all of the order descends. A cursor is a text that
-- may stand in a URL: what the row at the end of the page has in the columns of the order. It is only good for the order that it was
-- made by.

local perilune = require "perilune"
local null = require("perilune.native.values").null
local errors = require "perilune.native.errors"
local arity = require "perilune.runtime.arity"
local record_class = require "perilune.records.class"
local record_info = require "perilune.records.info"
local record_values = require "perilune.records.values"
local expression = require "perilune.expressions.expression"
local building = require "perilune.expressions.swift_bridge"
local conditions = require "perilune.requests.conditions"
local nodes = require "perilune.requests.nodes"
local page_cursors = require "perilune.requests.page_cursors"
local request = require "perilune.requests.request"
local request_plans = require "perilune.requests.plans"
local sources = require "perilune.requests.source"
local records = require "perilune.native.records"
local raise = errors.raise
local schema_generation = records.schema_generation
local verbs = request.verbs

-- The order -------------------------------------------------------------------------------------------------------------------

--- The terms of a node's order with their values: a list of { column (an expression), is_descending, nulls_first }.
local function terms_of(self, method)
  local steps, node, is_reversed = {}, self.node, false
  while node.parent and node.op ~= "unordered" do
    if node.op == "reversed" and #steps == 0 then is_reversed = not is_reversed
    elseif node.op == "reversed" then
      raise("argument", method .. ": reversed() must come after then_order(...): request:order(...):then_order(...):reversed()")
    elseif node.op == "order" or node.op == "then order" then
      table.insert(steps, 1, node)
      if node.op == "order" then break end
    end
    node = node.parent
  end
  local terms = {}
  for _, step in ipairs(steps) do
    local position = step.parent.count
    for _, term in ipairs(building.read_order(step.shape)) do
      local shape = term[1]
      if shape.op == "sql" then
        raise("argument", method .. ": the order cannot contain SQL text; use names of columns or expressions")
      end
      local values = { shape = shape }
      for index = 1, shape.count do values[index] = self[position + index] end
      position = position + shape.count
      terms[#terms + 1] = { column = setmetatable(values, expression.metatable), descends = term[2] ~= is_reversed, nulls_first = term[3] }
      if is_reversed and term[3] ~= nil then terms[#terms].nulls_first = not term[3] end
    end
  end
  return terms
end

--- Where NULLs come.
local function has_nulls_first(term)
  if term.nulls_first ~= nil then return term.nulls_first end
  return not term.descends
end

--- The name of the column of the request's own table that a term is; nil for anything else.
local function own_column(self, term)
  local shape = term.column.shape
  local source = self.node.root.source
  if shape.op ~= "column" then return nil end
  if not shape.table and not shape.common then
    local column = source:column_named(shape.detail, self.node.alias)
    if not column then return nil end
    term.column = column
    return column.shape.detail
  end
  local is_own = (shape.table == source.table or shape.common == source) and shape.place == self.node.alias
  return is_own and shape.detail or nil
end

--- The column of a name in a schema; nil for the row id.
local function column_of(schema, name)
  for _, column in ipairs(schema.columns) do
    if column.name == name then return column end
  end
end

--- Whether the values of a term are never NULL.
local function is_not_null(term, schema)
  if not term.name or not schema or schema.kind == "view" then return false end
  local column, key = column_of(schema, term.name), schema.primary_key.columns
  -- The row id.
  if not column then return true end
  return column.not_null or column.primary_key ~= nil and (schema.without_rowid or #key == 1 and column.type:lower() == "integer")
end

--- The terms of the order, followed by those of the key that are missing. These descend if all terms do, so that an index on the
-- columns of the order has the rows in this order, too.
local function complete_terms(self, method)
  local terms, known, descends = terms_of(self, method), {}, nil
  for _, term in ipairs(terms) do
    term.name = own_column(self, term)
    if term.name then known[term.name] = true end
    descends = term.descends and descends ~= false
  end
  local function add(column)
    if known[column.shape.detail] then return end
    terms[#terms + 1] = { column = column, descends = descends or false, name = column.shape.detail }
  end
  local source, alias = self.node.root.source, self.node.alias
  local key, schema = source:key(alias), source.schema and source:schema()
  for _, column in ipairs(key) do add(column) end
  -- A key may be NULL in many rows, unless it is the row id.
  for _, column in ipairs(key) do
    if schema and schema.row_id_names[1] and not is_not_null({ name = column.shape.detail }, schema) then
      add(source:column(schema.row_id_names[1], alias))
      break
    end
  end
  return terms
end

--- Whether records come with a column: not with the row id, and not with what is lazy.
local function has_field(schema, name)
  for _, lazy in ipairs(schema.lazy or {}) do
    if lazy == name then return false end
  end
  return column_of(schema, name) ~= nil
end

--- Whether the columns of these names hold a key that no two rows have equal, of columns that are never NULL.
local function holds_key(known, schema)
  for _, key in ipairs(schema.distinct_keys) do
    local is_held = true
    for _, name in ipairs(key) do is_held = is_held and known[name] end
    if is_held then return true end
  end
  return false
end

--- How many of the terms, from the first one, no two rows have equal.
local function count_telling(terms, schema)
  local known = {}
  for index, term in ipairs(terms) do
    if schema and term.name and not term.may_be_null then
      known[term.name] = true
      if holds_key(known, schema) then return index end
    end
  end
  return #terms
end

-- What has no pages -----------------------------------------------------------------------------------------------------------

--- Functions that give another value each time.
local random_functions = { random = true, randomblob = true }

--- Raises for a value of the order that depends on more than its row: behind a cursor it would be another one.
local function check_is_of_row(method, shape)
  if shape.op == "window" or shape.op == "over" then
    raise("argument", method .. ": the order cannot contain window functions, whose values depend on the rows of the page; "
      .. "use limit and offset, or a common table with the value as a column")
  elseif (shape.op == "call" or shape.op == "distinct call") and random_functions[shape.detail:lower()] then
    raise("argument", ("%s: the order cannot contain %s(), which gives another value each time"):format(method, shape.detail))
  end
  for _, operand in ipairs(shape.operands or {}) do check_is_of_row(method, operand) end
end

--- Whether a join has one row at most beside each: by what the condition compares with a key of the other table.
local function joins_one(node)
  local operands = node.shape.operands
  local other, condition, known = operands[1].node, operands[2], {}
  local source = other.root.source
  local schema = source and source.schema and source:schema()
  if not condition or not schema or node.op ~= "table join inner" and node.op ~= "table join left" then return false end
  local function add(operand)
    if operand.op == "column" and operand.table == source.table and operand.place == other.alias then known[operand.detail] = true end
  end
  conditions.each_equality(condition, 0, function(left, right)
    add(left)
    add(right)
  end)
  return holds_key(known, schema)
end

--- Raises for a request that may have a record several times, which its key does not tell apart.
local function check_has_each_once(self, method)
  local node, repeats = self.node, false
  while node.parent do
    if node.op == "distinct" then return end
    if node.op:find("^table join ") then repeats = repeats or not joins_one(node)
    elseif node.op == "join required" or node.op == "join optional" then repeats = repeats or node.other.root.kind == "has_many" end
    node = node.parent
  end
  if not repeats then return end
  raise("argument", method .. ": joined rows may repeat a record, which has one place in the pages; add distinct(), or use "
    .. "filter(Class.association:exists()) in place of the join")
end

-- Rows behind a row -----------------------------------------------------------------------------------------------------------

-- The rows behind one are stretches of the order, the nearest first: behind (1, 2, 3) these are a = 1 AND b = 2 AND c > 3, then
-- a = 1 AND b > 2, then a > 1. SQLite finds the beginning of each in an index, which it does not for all of them in one condition: that
-- makes it walk through all rows with a = 1. So stretches are searched one after the other, until the page is full.

local function both(left, right) return left and left & right or right end

--- That a row comes behind a value in one term: conditions, the nearest rows first.
local function behind(term, value)
  local column, nulls_first = term.column, has_nulls_first(term)
  if value == null then return { nulls_first and column:is_not_null() or nil } end
  local plain = expression.of_value(value)
  local is_behind = term.descends and column:lt(plain) or not term.descends and column:gt(plain)
  return { is_behind, term.may_be_null and not nulls_first and column:is_null() or nil }
end

local function equal(term, value)
  return value == null and term.column:is_null() or term.column:eq(expression.of_value(value))
end

--- The conditions of the stretches behind the row with these values in the first `count` terms.
local function stretches(terms, count, values)
  local same, result = {}, {}
  for index = 1, count - 1 do same[index + 1] = both(same[index], equal(terms[index], values[index])) end
  for index = count, 1, -1 do
    for _, condition in ipairs(behind(terms[index], values[index])) do result[#result + 1] = both(same[index], condition) end
  end
  return result
end

--- A term as SQL. One that looks at rows of another table is known only with the request.
local function text_of(self, term, db)
  local is_plain, text = pcall(tostring, term.column)
  if is_plain then return text end
  local source, alias = self.node.root.source, self.node.alias
  local all = source.class and sources.unscoped_request(source.class) or request.derive_with_detail(self, "unordered")
  return (alias and all:aliased(alias) or all):order(term.column):sql(db)
end

--- What tells an order from others: FNV-1a of its SQL.
local function fingerprint(self, terms, db)
  local hash = 2166136261
  local parts = { self.node.root.source.table }
  for _, term in ipairs(terms) do
    parts[#parts + 1] = text_of(self, term, db) .. (term.descends and " desc" or "") .. tostring(has_nulls_first(term))
  end
  for byte in table.concat(parts, "\0"):gmatch(".") do hash = (hash ~ byte:byte()) * 16777619 & 0xffffffff end
  return hash
end

-- Pages -------------------------------------------------------------------------------------------------------------------------

--- The names of the fields that carry a term which is no column of the table, and the type of one that may be a BLOB: its bytes are a
-- string, too.
local function carried(index) return "perilune_order_" .. index end
local function carried_type(index) return "perilune_type_" .. index end

--- Whether a term may be a BLOB, as far as its type is declared.
local function may_be_blob(term, schema)
  if not term.name or not schema then return not term.name end
  local column = column_of(schema, term.name)
  local declared = column and column.type:lower()
  return declared ~= nil and (declared == "" or declared == "any" or declared:find("blob", 1, true) ~= nil)
end

--- What a record has in the terms of the order.
local function stored_values(record, terms)
  local info, values = record_class.info_of(record) and record_info.of_record(record), {}
  for index, term in ipairs(terms) do
    local value
    if term.name and info then value = record_values.stored(info, record, term.name)
    else value = rawget(record, term.name or carried(index)) end
    if term.may_be_blob and type(value) == "string" and rawget(record, carried_type(index)) == "blob" then value = perilune.blob(value) end
    if value == nil then value = null end
    values[index] = value
  end
  return values
end

local function check(self, method, size)
  if math.type(size) ~= "integer" or size < 1 then
    raise("argument", method .. ": argument 2: expected an integer of at least 1, got " .. errors.describe(size))
  end
  local node = self.node
  if node.limit or node.offset then raise("argument", method .. ": the size of the page is the limit; remove limit(...)") end
  if node.selects then raise("argument", method .. ": pages contain whole records; remove select(...)") end
end

--- The request with the values of the terms beside its columns, where they are not among these.
local function with_terms(self, terms)
  for index, term in ipairs(terms) do
    if not term.name then self = self:annotated_with(term.column:as(carried(index))) end
    if term.may_be_blob then self = self:annotated_with(term.column:typeof():as(carried_type(index))) end
  end
  return self
end

local function drop_terms(list, terms)
  for index, term in ipairs(terms) do
    for _, record in ipairs(list) do
      if not term.name then rawset(record, carried(index), nil) end
      if term.may_be_blob then rawset(record, carried_type(index), nil) end
    end
  end
end

local function order_by(self, terms)
  local columns = {}
  for index, term in ipairs(terms) do
    columns[index] = term.descends and term.column:desc() or term.column
    if term.nulls_first ~= nil then
      columns[index] = term.nulls_first and columns[index]:nulls_first() or columns[index]:nulls_last()
    end
  end
  return self:order(columns)
end

local function reverse(terms)
  for _, term in ipairs(terms) do
    term.descends = not term.descends
    if term.nulls_first ~= nil then term.nulls_first = not term.nulls_first end
  end
end

-- Searches ----------------------------------------------------------------------------------------------------------------------

--- What the request and its order say of all pages: the form of a page. It is kept at the node of the request, except where expressions
-- of the order have values.
local function make_form(self, method, db)
  check_has_each_once(self, method)
  local terms = complete_terms(self, method)
  for _, term in ipairs(terms) do check_is_of_row(method, term.column.shape) end
  local form = { terms = terms, hash = fingerprint(self, terms, db), searches = {}, has_values = false }
  local schema = self.node.root.source.schema and self.node.root.source:schema()
  for _, term in ipairs(terms) do
    term.may_be_null, term.may_be_blob = not is_not_null(term, schema), may_be_blob(term, schema)
    form.has_values = form.has_values or term.column.shape.count > 0
    if term.name and schema and not has_field(schema, term.name) then term.name = nil end
  end
  form.telling = count_telling(terms, schema)
  if method == "page_before" then reverse(terms) end
  return form
end

local function form_of(self, method, db)
  local node, generation = self.node, schema_generation(db)
  local forms = node.page_forms
  if not forms or forms.generation ~= generation then
    forms = { generation = generation }
    node.page_forms = forms
  end
  if forms[method] then return forms[method] end
  local form = make_form(self, method, db)
  if not form.has_values then forms[method] = form end
  return form
end

--- A search: the node of a request, and what its values are beyond those of the request that is searched: positions in a cursor.
-- @tparam table markers the positions by what stands for them in the condition
local function new_search(self, form, condition, markers)
  local rows = with_terms(self, form.terms)
  local request_of_search = order_by(condition and rows:filter(condition) or rows, form.terms)
  local search = { node = request_of_search.node, values = {}, positions = {} }
  for index = self.node.count + 1, search.node.count do
    local value = request_of_search[index]
    search.values[index], search.positions[index] = value, markers[value]
  end
  return search
end

--- The request of a search for at most `count` rows.
local function request_of(self, search, values, count)
  local node, own_count = nodes.with_detail(search.node, "limit", count), self.node.count
  local result = { node = node, table.unpack(self, 1, own_count) }
  for index = own_count + 1, node.count do
    local position = search.positions[index]
    if position then result[index] = values[position] else result[index] = search.values[index] end
  end
  return setmetatable(result, node.metatable)
end

--- Whether SQLite has to sort all rows: no index has them in the order of the request, so that one search does with one sort.
local function sorts_all(found, db)
  for _, step in ipairs(found:explain(db)) do
    if step.detail == "USE TEMP B-TREE FOR ORDER BY" then return true end
  end
  return false
end

--- The searches for the rows behind a cursor.
local function make_searches(self, form, values, db)
  local markers, marked, found = {}, {}, {}
  for index = 1, form.telling do
    local value = values[index]
    marked[index] = value == null and null or {}
    markers[marked[index]] = value ~= null and index or nil
  end
  local conditions = stretches(form.terms, form.telling, marked)
  for index, condition in ipairs(conditions) do found[index] = new_search(self, form, condition, markers) end
  if #found < 2 or not sorts_all(request_of(self, found[#found], values, 1), db) then return found end
  local any = conditions[1]
  for index = 2, #conditions do any = any | conditions[index] end
  return { new_search(self, form, any, markers) }
end

--- The kept searches. Which there are depends on which values are NULL.
local function searches_for(self, form, values, db)
  local key = values and "" or "first"
  for index = 1, values and form.telling or 0 do
    if values[index] == null then key = key .. index .. " " end
  end
  local searches = form.searches[key]
  if not searches then
    searches = values and make_searches(self, form, values, db) or { new_search(self, form, nil, {}) }
    form.searches[key] = searches
  end
  return searches
end

--- At least `count` rows, if there are as many.
local function fetch_rows(self, searches, values, count, db)
  local list = {}
  for index, search in ipairs(searches) do
    local found = request_of(self, search, values, count):fetch_all(db)
    if index == 1 then list = found else table.move(found, 1, #found, #list + 1, list) end
    if #list >= count then break end
  end
  return list
end

local function fetch(self, method, cursor, size, db)
  check(self, method, size)
  db = request_plans.database_for(db, method)
  local form, is_back, list = form_of(self, method, db), method == "page_before", nil
  local values = cursor ~= nil and page_cursors.read(method, cursor, form.hash, #form.terms) or nil
  local searches = searches_for(self, form, values, db)
  if #searches == 1 then
    list = fetch_rows(self, searches, values, size + 1, db)
  else
    -- In one access, so that nothing is written between the searches.
    list = records.with_access(db, "read", fetch_rows, self, searches, values, size + 1, db)
  end
  local has_more = #list > size
  for index = #list, size + 1, -1 do list[index] = nil end
  if is_back then
    for index = 1, #list // 2 do list[index], list[#list + 1 - index] = list[#list + 1 - index], list[index] end
  end
  local function cursor_at(position)
    return list[position] and page_cursors.write(form.hash, stored_values(list[position], form.terms))
  end
  local page = { records = list, size = size }
  -- Behind a page that was reached by a cursor there is the row of the cursor at least, or was.
  if is_back then page.previous, page.next = has_more and cursor_at(1) or nil, cursor ~= nil and (cursor_at(#list) or cursor) or nil
  else page.previous, page.next = cursor ~= nil and (cursor_at(1) or cursor) or nil, has_more and cursor_at(#list) or nil end
  drop_terms(list, form.terms)
  return page
end

--- The page of the rows behind a cursor, in the order of the request: `records`; `next`, the cursor for the page behind it, nil if there
-- is none; `previous`, the one for the page before it.
-- @tparam ?string cursor `next` of a page; nil for the first rows
-- @tparam integer size how many rows at most
-- @tparam ?database db
function verbs:page_after(cursor, size, db) return fetch(self, "page_after", cursor, size, db) end

--- The page of the rows before a cursor: `previous` of a page; nil for the last rows.
function verbs:page_before(cursor, size, db) return fetch(self, "page_before", cursor, size, db) end

arity.limit(verbs, "", { page_after = 3, page_before = 3 })

return verbs
