--- Pages that begin behind a row instead of at a number: they cost the same however far they are, and rows that come and go before them
-- change nothing.
--
--     local page = Book:order("year"):page_after(nil, 20)
--     page.records, page.next, page.previous
--     Book:order("year"):page_after(page.next, 20)
--
-- Where the order may leave rows equal, the primary key follows it. A cursor is a text that may stand in a URL: what the row at the end
-- of the page has in the columns of the order. It is only good for the order that it was made by.

local perilune = require "perilune"
local null = require("perilune.native.values").null
local errors = require "perilune.native.errors"
local native_values = require "perilune.native.values"
local arity = require "perilune.runtime.arity"
local record_class = require "perilune.records.class"
local expression = require "perilune.expressions.expression"
local building = require "perilune.expressions.swift_bridge"
local request = require "perilune.requests.request"
local request_plans = require "perilune.requests.plans"
local raise = errors.raise
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

--- The terms of the order, followed by those of the key that are missing.
local function complete_terms(self, method)
  local terms, known = terms_of(self, method), {}
  for _, term in ipairs(terms) do
    term.name = own_column(self, term)
    if term.name then known[term.name] = true end
  end
  for _, column in ipairs(self.node.root.source:key(self.node.alias)) do
    if not known[column.shape.detail] then
      terms[#terms + 1] = { column = column, descends = false, name = column.shape.detail }
    end
  end
  return terms
end

--- Whether the values of a term are never NULL.
local function is_not_null(term, schema)
  if not term.name or not schema or schema.kind == "view" then return false end
  local key, is_key = schema.primary_key.columns, false
  for _, name in ipairs(key) do is_key = is_key or name == term.name end
  for _, column in ipairs(schema.columns) do
    if column.name == term.name then
      return column.not_null or is_key and (schema.without_rowid or #key == 1 and column.type:lower() == "integer")
    end
  end
  -- The row id.
  return true
end

-- Rows behind a row -----------------------------------------------------------------------------------------------------------

local no_rows = function() return expression.sql("0", { n = 0 }, "page_after") end

--- That a row comes behind a value in one term alone; nil if none does.
local function behind(term, value)
  local column, nulls_first = term.column, has_nulls_first(term)
  if value == null then return nulls_first and column:is_not_null() or nil end
  local plain = expression.of_value(value)
  local condition = term.descends and column:lt(plain) or not term.descends and column:gt(plain)
  if term.may_be_null and not nulls_first then return condition | column:is_null() end
  return condition
end

local function equal(term, value)
  return value == null and term.column:is_null() or value ~= null and term.column:eq(expression.of_value(value)) or nil
end

--- Whether one comparison of all columns says it, which SQLite finds in an index: they have one direction, and no NULLs.
local function is_uniform(terms, values)
  if #terms == 1 then return false end
  for index, term in ipairs(terms) do
    if term.may_be_null or values[index] == null or term.descends ~= terms[1].descends then return false end
  end
  return true
end

local function compare_rows(terms, values)
  local arguments = { n = 2 * #terms }
  for index, term in ipairs(terms) do
    arguments[index], arguments[#terms + index] = term.column, expression.of_value(values[index])
  end
  local marks = "(" .. ("?, "):rep(#terms - 1) .. "?)"
  return expression.sql(marks .. (terms[1].descends and " < " or " > ") .. marks, arguments, "page_after")
end

--- The condition that a row comes behind the one with these values.
local function rows_behind(terms, values)
  if is_uniform(terms, values) then return compare_rows(terms, values) end
  local result
  for index = #terms, 1, -1 do
    local here, same = behind(terms[index], values[index]), result and equal(terms[index], values[index]) & result
    result = here and same and here | same or here or same
  end
  if not result then return no_rows() end
  local first, value = terms[1], values[1]
  -- A bound that an index can be searched by.
  if #terms > 1 and value ~= null and not (first.may_be_null and not has_nulls_first(first)) then
    local plain = expression.of_value(value)
    result = (first.descends and first.column:le(plain) or not first.descends and first.column:ge(plain)) & result
  end
  return result
end

-- Cursors -----------------------------------------------------------------------------------------------------------------------

local alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
local digits = {}
for index = 1, #alphabet do digits[alphabet:byte(index)] = index - 1 end

--- As RFC 4648 writes it for URLs, without padding.
local function to_base64(bytes)
  local parts = {}
  for position = 1, #bytes, 3 do
    local a, b, c = bytes:byte(position, position + 2)
    local number, count = a << 16 | (b or 0) << 8 | (c or 0), c and 4 or b and 3 or 2
    for index = 0, count - 1 do
      local digit = number >> (18 - 6 * index) & 63
      parts[#parts + 1] = alphabet:sub(digit + 1, digit + 1)
    end
  end
  return table.concat(parts)
end

local function from_base64(text)
  local parts = {}
  for position = 1, #text, 4 do
    local number, count = 0, 0
    for index = 0, 3 do
      local byte = text:byte(position + index)
      local digit = byte and digits[byte]
      if byte and not digit then return nil end
      if byte then count = count + 1 end
      number = number << 6 | (digit or 0)
    end
    if count == 1 then return nil end
    parts[#parts + 1] = string.char(number >> 16 & 255, number >> 8 & 255, number & 255):sub(1, count - 1)
  end
  return table.concat(parts)
end

--- What tells an order from others: FNV-1a of its SQL.
local function fingerprint(self, terms)
  local hash = 2166136261
  local parts = { self.node.root.source.table }
  for _, term in ipairs(terms) do
    parts[#parts + 1] = tostring(term.column) .. (term.descends and " desc" or "") .. tostring(has_nulls_first(term))
  end
  for byte in table.concat(parts, "\0"):gmatch(".") do hash = (hash ~ byte:byte()) * 16777619 & 0xffffffff end
  return hash
end

local formats = { integer = "i8", float = "n", string = "s4", blob = "s4", ["true"] = "", ["false"] = "", null = "" }
local letters = { integer = "i", float = "f", string = "t", blob = "b", ["true"] = "y", ["false"] = "n", null = "0" }
local kinds = {}
for kind, letter in pairs(letters) do kinds[letter] = kind end

local function kind_of(value)
  if value == null then return "null" end
  if type(value) == "boolean" then return tostring(value) end
  if native_values.is_blob(value) then return "blob" end
  return math.type(value) or type(value)
end

--- The cursor of a row.
-- @param values what it has in the terms of the order
local function write_cursor(hash, values)
  local parts = { string.pack("<I4", hash) }
  for index, value in ipairs(values) do
    local kind = kind_of(value)
    local format = formats[kind]
    parts[index + 1] = letters[kind] .. (format ~= "" and string.pack("<" .. format, kind == "blob" and tostring(value) or value) or "")
  end
  return to_base64(table.concat(parts))
end

local function raise_cursor(method, reason)
  raise("argument", method .. ": argument 1: expected a cursor of this request, got " .. reason
    .. "; pass `next` or `previous` of a page with the same order, or nil for the first page")
end

local function read_values(bytes, count)
  local values, position = {}, 5
  for index = 1, count do
    local kind = kinds[bytes:sub(position, position)]
    if not kind then return nil end
    local format = formats[kind]
    position = position + 1
    if format ~= "" then
      local value
      value, position = string.unpack("<" .. format, bytes, position)
      values[index] = kind == "blob" and perilune.blob(value) or value
    elseif kind == "null" then values[index] = null
    else values[index] = kind == "true" end
  end
  return position == #bytes + 1 and values or nil
end

--- The values of a cursor.
local function read_cursor(method, cursor, hash, count)
  if type(cursor) ~= "string" then raise_cursor(method, errors.describe(cursor)) end
  local bytes = from_base64(cursor)
  if not bytes or #bytes < 4 then raise_cursor(method, "another string") end
  if string.unpack("<I4", bytes) ~= hash then raise_cursor(method, "one of another order") end
  local is_done, values = pcall(read_values, bytes, count)
  return is_done and values or raise_cursor(method, "another string")
end

-- Pages -------------------------------------------------------------------------------------------------------------------------

--- The names of the fields that carry a term which is no column of the table, and the type of one that may be a BLOB: its bytes are a
-- string, too.
local function carried(index) return "perilune_order_" .. index end
local function carried_type(index) return "perilune_type_" .. index end

--- Whether a term may be a BLOB, as far as its type is declared.
local function may_be_blob(term, schema)
  if not term.name or not schema then return not term.name end
  for _, column in ipairs(schema.columns) do
    if column.name == term.name then
      local declared = column.type:lower()
      return declared == "" or declared == "any" or declared:find("blob", 1, true) ~= nil
    end
  end
  return false
end

local function stored_values(record, terms)
  local info, values = record_class.info_of(record), {}
  for index, term in ipairs(terms) do
    local value
    if term.name and info then
      value = require("perilune.records.values").stored(require("perilune.records.info").of_record(record), record, term.name)
    else value = rawget(record, term.name or carried(index)) end
    if type(value) == "string" and rawget(record, carried_type(index)) == "blob" then value = perilune.blob(value) end
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

local function fetch(self, method, cursor, size, db)
  check(self, method, size)
  db = request_plans.database_for(db, method)
  local terms = complete_terms(self, method)
  local hash = fingerprint(self, terms)
  local schema = self.node.root.source.schema and self.node.root.source:schema()
  for _, term in ipairs(terms) do
    term.may_be_null, term.may_be_blob = not is_not_null(term, schema), may_be_blob(term, schema)
    -- Records come without it.
    for _, name in ipairs(schema and schema.lazy or {}) do
      if name == term.name then term.name = nil end
    end
  end
  local is_back = method == "page_before"
  if is_back then reverse(terms) end
  local rows = with_terms(self, terms)
  if cursor ~= nil then rows = rows:filter(rows_behind(terms, read_cursor(method, cursor, hash, #terms))) end
  local list = order_by(rows, terms):limit(size + 1):fetch_all(db)
  local has_more = #list > size
  list[size + 1] = nil
  if is_back then
    for index = 1, #list // 2 do list[index], list[#list + 1 - index] = list[#list + 1 - index], list[index] end
  end
  local function cursor_at(position)
    return list[position] and write_cursor(hash, stored_values(list[position], terms))
  end
  local page = { records = list, size = size }
  -- Behind a page that was reached by a cursor there is the row of the cursor at least, or was.
  if is_back then page.previous, page.next = has_more and cursor_at(1) or nil, cursor ~= nil and (cursor_at(#list) or cursor) or nil
  else page.previous, page.next = cursor ~= nil and (cursor_at(1) or cursor) or nil, has_more and cursor_at(#list) or nil end
  drop_terms(list, terms)
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
