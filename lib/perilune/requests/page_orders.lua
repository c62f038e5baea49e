--- The orders of pages: the terms of a request's order, completed by the key, and the number of terms that are needed to distinguish all
-- rows.

local errors = require "perilune.native.errors"
local expression = require "perilune.expressions.expression"
local expression_building = require "perilune.expressions.swift_bridge"
local request = require "perilune.requests.request"
local sources = require "perilune.requests.source"
local raise = errors.raise

local page_orders = {}

--- Returns the terms of a node's order with their values: a list of { column (an expression), is_descending, nulls_first }.
local function given_terms(self, method)
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
    for _, term in ipairs(expression_building.read_order(step.shape)) do
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

--- Returns whether NULLs come first.
function page_orders.has_nulls_first(term)
  if term.nulls_first ~= nil then return term.nulls_first end
  return not term.descends
end

--- Returns the column name if a shape is a column of a node's own table; nil otherwise.
function page_orders.own_name(node, shape)
  local source = node.root.source
  local is_own = shape.op == "column" and (shape.table == source.table or shape.common == source) and shape.place == node.alias
  return is_own and shape.detail or nil
end

--- Returns the column name if a term is a column of the request's own table; nil otherwise.
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
  return page_orders.own_name(self.node, shape)
end

--- Returns the column with a name in a schema; nil for the row id.
function page_orders.column_of(schema, name)
  for _, column in ipairs(schema.columns) do
    if column.name == name then return column end
  end
end

--- Returns whether the values of a term are never NULL.
function page_orders.is_not_null(term, schema)
  if not term.name or not schema or schema.kind == "view" then return false end
  local column, key = page_orders.column_of(schema, term.name), schema.primary_key.columns
  -- This is the row id.
  if not column then return true end
  return column.not_null or column.primary_key ~= nil and (schema.without_rowid or #key == 1 and column.type:lower() == "integer")
end

--- Returns the terms of the order, followed by the columns of the key that it lacks. These are descending if all terms are, so that
-- an index on the columns of the order also serves the completed order.
function page_orders.terms_of(self, method)
  local terms, known, descends = given_terms(self, method), {}, nil
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
  -- A key may be NULL in several rows, unless it is the row id.
  for _, column in ipairs(key) do
    if schema and schema.row_id_names[1] and not page_orders.is_not_null({ name = column.shape.detail }, schema) then
      add(source:column(schema.row_id_names[1], alias))
      break
    end
  end
  return terms
end

--- Returns whether records are fetched with a column. The row id and lazy columns are not.
function page_orders.has_field(schema, name)
  for _, lazy in ipairs(schema.lazy or {}) do
    if lazy == name then return false end
  end
  return page_orders.column_of(schema, name) ~= nil
end

--- Returns whether these columns include a unique key whose columns are never NULL.
function page_orders.holds_key(known, schema)
  for _, key in ipairs(schema.distinct_keys) do
    local is_held = true
    for _, name in ipairs(key) do is_held = is_held and known[name] end
    if is_held then return true end
  end
  return false
end

--- Returns how many of the first terms are needed so that no two rows have the same values.
function page_orders.count_telling(terms, schema)
  local known = {}
  for index, term in ipairs(terms) do
    if schema and term.name and not term.may_be_null then
      known[term.name] = true
      if page_orders.holds_key(known, schema) then return index end
    end
  end
  return #terms
end

--- Returns a term as SQL. A term that uses rows of another table has SQL only within the request.
local function text_of(self, term, db)
  local is_plain, text = pcall(tostring, term.column)
  if is_plain then return text end
  local source, alias = self.node.root.source, self.node.alias
  local all = source.class and sources.unscoped_request(source.class) or request.derive_with_detail(self, "unordered")
  return (alias and all:aliased(alias) or all):order(term.column):sql(db)
end

--- Returns the fingerprint of an order: the FNV-1a hash of its SQL.
function page_orders.fingerprint(self, terms, db)
  local hash = 2166136261
  local parts = { self.node.root.source.table }
  for _, term in ipairs(terms) do
    parts[#parts + 1] = text_of(self, term, db) .. (term.descends and " desc" or "") .. tostring(page_orders.has_nulls_first(term))
  end
  for byte in table.concat(parts, "\0"):gmatch(".") do hash = (hash ~ byte:byte()) * 16777619 & 0xffffffff end
  return hash
end

--- Returns the request ordered by the terms.
function page_orders.order_by(self, terms)
  local columns = {}
  for index, term in ipairs(terms) do
    columns[index] = term.descends and term.column:desc() or term.column
    if term.nulls_first ~= nil then
      columns[index] = term.nulls_first and columns[index]:nulls_first() or columns[index]:nulls_last()
    end
  end
  return self:order(columns)
end

--- Reverses the terms.
function page_orders.reverse(terms)
  for _, term in ipairs(terms) do
    term.descends = not term.descends
    if term.nulls_first ~= nil then term.nulls_first = not term.nulls_first end
  end
end

return page_orders
