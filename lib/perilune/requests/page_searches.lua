--- The searches for the rows of a page: requests for the rows after a cursor.

local perilune = require "perilune"
local native_values = require "perilune.native.values"
local null = native_values.null
local record_class = require "perilune.records.class"
local column_details = require "perilune.records.column_details"
local record_values = require "perilune.records.values"
local expression = require "perilune.expressions.expression"
local nodes = require "perilune.requests.nodes"
local page_orders = require "perilune.requests.page_orders"
local pageable = require "perilune.requests.pageable"
local schema_generation = require("perilune.native.records").schema_generation

local page_searches = {}

-- Rows after a row ------------------------------------------------------------------------------------------------------------

-- The rows after a row form ranges of the order, the nearest first: after (1, 2, 3), these are a = 1 AND b = 2 AND c > 3, then a =
-- 1 AND b > 2, then a > 1. SQLite can find the start of each range in an index, but not if all ranges are one condition, for which
-- it would visit all rows with a = 1. Therefore the ranges are searched in order until the page is full.

local function both(left, right) return left and left & right or right end

--- Returns conditions that together match the rows after a value when sorted by one term. The first condition matches the nearest rows.
local function behind(term, value)
  local column, nulls_first = term.column, page_orders.has_nulls_first(term)
  if value == null then return { nulls_first and column:is_not_null() or nil } end
  local plain = expression.of_value(value)
  local is_behind = term.descends and column:lt(plain) or not term.descends and column:gt(plain)
  return { is_behind, term.may_be_null and not nulls_first and column:is_null() or nil }
end

local function equal(term, value)
  return value == null and term.column:is_null() or term.column:eq(expression.of_value(value))
end

--- Returns the conditions of the ranges after the row with these values in the first `count` terms.
local function stretches(terms, count, values)
  local same, result = {}, {}
  for index = 1, count - 1 do same[index + 1] = both(same[index], equal(terms[index], values[index])) end
  for index = count, 1, -1 do
    for _, condition in ipairs(behind(terms[index], values[index])) do result[#result + 1] = both(same[index], condition) end
  end
  return result
end

-- Additional fields ---------------------------------------------------------------------------------------------------------

--- The names of additional fields: for the value of a term that is not a table column, and for the type of a value that may be a BLOB. The
-- type is needed because both BLOBs and text become strings.
local function carried(index) return "perilune_carried_order_" .. index end
local function carried_type(index) return "perilune_carried_type_" .. index end

--- Returns whether a term may be a BLOB according to its declared type.
local function may_be_blob(term, schema)
  if not term.name or not schema then return not term.name end
  local column = page_orders.column_of(schema, term.name)
  local declared = column and column.type:lower()
  return declared ~= nil and (declared == "" or declared == "any" or declared:find("blob", 1, true) ~= nil)
end

--- Returns a record's values of the terms.
function page_searches.stored_values(record, terms)
  local details, values = record_class.info_of(record) and column_details.of_record(record), {}
  for index, term in ipairs(terms) do
    local value
    if term.name and details then value = record_values.stored(details, record, term.name)
    else value = rawget(record, term.name or carried(index)) end
    local stored_type = term.may_be_blob and rawget(record, carried_type(index))
    if stored_type == "blob" and type(value) == "string" then value = perilune.blob(value)
    elseif stored_type == "text" and native_values.is_blob(value) then value = tostring(value) end
    if value == nil then value = null end
    values[index] = value
  end
  return values
end

--- Returns the request with additional columns for the terms that are not among its columns.
local function with_terms(self, terms)
  for index, term in ipairs(terms) do
    if not term.name then self = self:annotated_with(term.column:as(carried(index))) end
    if term.may_be_blob then self = self:annotated_with(term.column:typeof():as(carried_type(index))) end
  end
  return self
end

--- Removes these additional fields from records.
function page_searches.drop_terms(list, terms)
  for index, term in ipairs(terms) do
    for _, record in ipairs(list) do
      if not term.name then rawset(record, carried(index), nil) end
      if term.may_be_blob then rawset(record, carried_type(index), nil) end
    end
  end
end

-- Searches ----------------------------------------------------------------------------------------------------------------------

--- Returns the form of a request's pages: the properties that are the same for all pages.
local function make_form(self, method, db)
  local terms = page_orders.terms_of(self, method)
  pageable.check_has_each_once(self, method, terms)
  for _, term in ipairs(terms) do pageable.check_is_of_row(method, term.column.shape) end
  local form = { terms = terms, hash = page_orders.fingerprint(self, terms, db), searches = {}, has_values = false }
  local schema = self.node.root.source.schema and self.node.root.source:schema()
  for _, term in ipairs(terms) do
    term.may_be_null, term.may_be_blob = not page_orders.is_not_null(term, schema), may_be_blob(term, schema)
    form.has_values = form.has_values or term.column.shape.count > 0
    if term.name and schema and not page_orders.has_field(schema, term.name) then term.name = nil end
  end
  form.telling = page_orders.count_telling(terms, schema)
  if method == "page_before" then page_orders.reverse(terms) end
  return form
end

--- Returns the form of a request's pages. It is cached in the request's node for one schema generation, unless expressions in the order
-- have values.
function page_searches.form_of(self, method, db)
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

--- Creates a search: the node of a request, and the values that it has in addition to the values of the original request. Some of them are
-- positions in a cursor.
-- @tparam table markers the positions in a cursor, by the placeholders for them in the condition
local function new_search(self, form, condition, markers)
  local rows = with_terms(self, form.terms)
  local request_of_search = page_orders.order_by(condition and rows:filter(condition) or rows, form.terms)
  local search = { node = request_of_search.node, values = {}, positions = {} }
  for index = self.node.count + 1, search.node.count do
    local value = request_of_search[index]
    search.values[index], search.positions[index] = value, markers[value]
  end
  return search
end

--- Returns the request of a search for at most `count` rows.
local function request_of(self, search, values, count)
  local node, own_count = nodes.with_detail(search.node, "limit", count), self.node.count
  local result = { node = node, nil, nil, table.unpack(self, nodes.unused + 1, own_count) }
  for index = own_count + 1, node.count do
    local position = search.positions[index]
    if position then result[index] = values[position] else result[index] = search.values[index] end
  end
  return setmetatable(result, node.metatable)
end

--- Returns whether SQLite must sort all rows, because no index has the request's order. Then a single search avoids repeated
-- sorting.
local function sorts_all(found, db)
  for _, step in ipairs(found:explain(db)) do
    if step.detail == "USE TEMP B-TREE FOR ORDER BY" then return true end
  end
  return false
end

--- Returns the searches for the rows after a cursor.
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

--- Returns the searches for a cursor. They are cached separately for each combination of NULL values in the cursor.
function page_searches.searches_for(self, form, values, db)
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

--- Runs the searches in order until at least `count` rows are found, or no search is left.
function page_searches.fetch_rows(self, searches, values, count, db)
  local list = {}
  for index, search in ipairs(searches) do
    local found = request_of(self, search, values, count):fetch_all(db)
    if index == 1 then list = found else table.move(found, 1, #found, #list + 1, list) end
    if #list >= count then break end
  end
  return list
end

return page_searches
