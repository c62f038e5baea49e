--- Requests for the rows that belong to one record: `author:books()`.

local association = require "perilune.associations.association"
local native_associations = require "perilune.native.associations"
local errors = require "perilune.native.errors"
local native_values = require "perilune.native.values"
local null = native_values.null
local native_records = require "perilune.native.records"
local marks = require "perilune.runtime.marks"
local record_fields = require "perilune.records.fields"
local record_class = require "perilune.records.class"
local column_details = require "perilune.records.column_details"
local record_values = require "perilune.records.values"
local class_properties = require "perilune.requests.class_properties"
local conditions = require "perilune.requests.conditions"
local expression = require "perilune.expressions.expression"
local sources = require "perilune.requests.source"
local raise = errors.raise
local request = require "perilune.requests.request"
local request_building = require "perilune.requests.swift_bridge"
local request_plans = require "perilune.requests.plans"
local perilune = require "perilune"

local unused = request.unused
local association_records = {}

--- Returns the association as built by Swift for the current database. If that database lacks the tables, returns the association built
-- last for another database. Raises if it was never built.
local function built(root, db)
  db = request_plans.database_for(db, root.name)
  local is_done, result = pcall(request_building.built, root, db, native_records.schema_generation(db))
  if is_done then return result end
  if result.kind ~= "unknown_table" then error(result, 0) end
  if root.built then return root.built end
  raise("unknown_table", ("%s Use record:%s(db), or call it in a block of the database that has the tables")
    :format(result.message, root.name), { table = result.table })
end

--- Returns the columns that link two rows: their names in the owner and in the target.
local function columns_of(root, db)
  local association = built(root, db)
  if root.columns_association ~= association then
    local pairs_of_columns = native_associations.columns(association)
    root.owner_columns, root.target_columns, root.comparisons = table.unpack(pairs_of_columns, 1, 3)
    root.collations, root.means_first, root.owner_comparisons, root.owner_collations = table.unpack(pairs_of_columns, 4, 7)
    root.columns_association = association
  end
  return root.owner_columns, root.target_columns
end

association_records.columns_of = columns_of

--- Returns a request for all rows of the target class. It has the identity of the association, so that the association's columns refer to
-- these rows.
local function rows_of_root(root, identity)
  local all = root.is_unscoped and sources.unscoped_request(root.target) or sources.class_request(root.target)
  if root.all_rows ~= all or root.rows_identity ~= identity then
    root.all_rows, root.rows_identity = all, identity
    root.rows = request.derive_with_detail(all, "reached by", identity)
  end
  return root.rows
end

--- Returns an association's derivations as a request for rows of the target class.
local function request_for_node(node, values, identity)
  if not node.parent then return rows_of_root(node.root, identity) end
  local before = request_for_node(node.parent, values, identity)
  if node.op == "named" then return before end
  local result = setmetatable({ node = request.child_like(before.node, node) }, before.node.metatable)
  local count = before.node.count
  for index = unused + 1, count do rawset(result, index, before[index]) end
  for index = node.parent.count + 1, node.count do
    count = count + 1
    rawset(result, count, values[index])
  end
  return result
end

local function check_record(root, record)
  local info = record_class.info_of(record)
  for ancestor in record_class.ancestors(info) do
    if ancestor.class == root.owner then return end
  end
  local name = root.name or "association"
  -- A generic `for` calls an association with nil.
  local use = record == nil and root.kind == "has_many" and "`for row in record:%s():rows() do`" or "record:%s()"
  raise("argument", ("`%s`: expected a record of `%s`, got %s; use %s"):format(name, root.owner_source.table,
    class_properties.name_beside(record, root.owner), use:format(name)))
end

--- Returns the node of the request for a record's associated rows through other tables.
-- @tparam string casts for each column of the record, "1" if its value is compared as a number, otherwise "0"
local function node_through(node, casts)
  node.for_records = node.for_records or {}
  local found = node.for_records[casts]
  if not found then
    local root = node.root.source.root
    found = request.new_node(nil, "associated", node.count + #casts)
    found.root, found.source, found.make_metatable, found.metatable = found, root.source, root.make_metatable, root.metatable
    found.other, found.casts = node, casts
    node.for_records[casts] = found
  end
  return found
end

--- Returns the stored value of a record's key column, or nil for NULL. Raises for a lazy field that was not fetched.
local function stored_field(record, name)
  local value = rawget(record, name)
  if value == nil then
    local info = record_class.info_of(record)
    if info and info.has_lazy then record_fields.check_is_fetched(info, record, name) end
  end
  if value == nil or value == null then return nil end
  return require("perilune.records.values").stored(require("perilune.records.column_details").of_record(record), record, name)
end

association_records.stored_field = stored_field

--- Converts a stored value to the value of a record's field that refers to another row.
-- @param class the record's class
function association_records.field_of(class, column, stored, db)
  local column_details = require "perilune.records.column_details"
  local details = db and column_details.of_class(class, db) or not db and column_details.of_any(class)
  if not details then return stored end
  local field, converter = require("perilune.records.values").field_of(details, column, stored), details.converters[column]
  if converter and converter.form == "day" and perilune.date.is(field) then
    require("perilune.schema.column_types").keep_text(field, stored)
  end
  return field
end

--- Returns the values that a request's conditions require of its rows, by field. Only conditions of the form `column = value` count.
-- Ignores comparisons with NULL, and conditions in a part of a union or on one side of OR.
function association_records.fields_of_conditions(rows, class, db)
  local found, node, source = {}, rows.node, rows.node.root.source
  local function add(left, right, position, op)
    if left.op ~= "column" or right ~= expression.slot then return end
    local is_own = (left.table == nil or left.table == source.table) and left.place == rows.node.alias
    if not is_own then return end
    local value = rows[position + left.count + 1]
    if left.convert or op == "date =" then value = association_records.field_of(class, left.detail, value, db) end
    found[left.detail] = value
  end
  while node.parent and node.op ~= "or filter" and not request.compounds[node.op] do
    if node.op == "filter" then conditions.each_equality(node.shape, node.parent.count, add) end
    node = node.parent
  end
  return found
end

local function through(self, record, owner_columns)
  local values, casts, root = {}, {}, self.node.root
  for index, name in ipairs(owner_columns) do
    local value, comparison = stored_field(record, name), root.comparisons[index]
    local is_converted = type(value) == "number" and comparison ~= "plain"
    if value == nil or is_converted and comparison == "textsOnly" then return sources.class_request(root.target):none() end
    values[index], casts[index] = value, is_converted and "1" or "0"
  end
  local node, count = node_through(self.node, table.concat(casts)), self.node.count
  local result = { node = node, link = { root = root, record = record } }
  for index = unused + 1, count do result[index] = self[index] end
  table.move(values, 1, #values, count + 1, result)
  return setmetatable(result, node.metatable)
end

--- Raises for a field that contradicts the conditions of a request, because the request would not find the new record.
function association_records.check_agrees(self, method, given, db)
  local class = self.node.root.source.class
  local details, fields = column_details.of_class(class, db), association_records.fields_of_conditions(self, class, db)
  local function stored(name, value)
    if value == null then return nil end
    return native_values.plain(record_values.store(details, nil, name, value))
  end
  for name, value in next, given do
    if fields[name] ~= nil and stored(name, fields[name]) ~= stored(name, value) then
      raise("argument", ("%s: `%s` is %s, but all records of the request have %s; use Class:%s{...}, or a request without that condition")
        :format(method, name, errors.describe(value), errors.describe(fields[name]), method))
    end
  end
end

--- Returns a column with the collation by which it is compared with the referenced column.
-- @param collation the collation of the referenced column; false to keep the column's own
function association_records.compared_by(column, collation) return collation and column:collating(collation) or column end

--- Returns the condition that a column equals a value stored in the referenced column, by SQLite's comparison rules. Returns nil if they
-- can never be equal.
-- @tparam string comparison how the value is compared
-- @param collation the collation of the referenced column, or false
function association_records.equal(column, value, comparison, collation)
  if comparison ~= "plain" and type(value) == "number" then
    if comparison == "textsOnly" then return nil end
    -- SQLite converts any value that is compared with a numeric column to a number.
    value = perilune.value(value):cast("numeric")
  end
  -- Both sides are stored values, so the value must not be converted like a field.
  local column_type = column.shape.type
  if column_type and (column_type.convert or column_type.form) and not marks.is_expression(value) then value = perilune.value(value) end
  return association_records.compared_by(column, collation):eq(value)
end

--- Returns the request for the rows that belong to a record.
-- @param ?db the database whose schema determines the foreign keys if neither the innermost access nor the default database has the tables
function association_records.request_of(self, record, db)
  local root = self.node.root
  check_record(root, record)
  if not root.target then raise("argument", "`" .. root.name .. "`: rows of a common table can only be read by joining them") end
  local owner_columns, target_columns = columns_of(root, db)
  if root.options.through then return through(self, record, owner_columns) end
  local rows, source = request_for_node(self.node, self, association.identity(self.node)), root.source
  for index, name in ipairs(owner_columns) do
    local value = stored_field(record, name)
    local condition = value ~= nil and association_records.equal(source:column(target_columns[index], self.node.alias), value, root.comparisons[index],
      root.collations[index])
    if not condition then
      rows = rows:none()
      break
    end
    rows = rows:filter(condition)
  end
  if root.means_first and not (rows.node.limit or rows.node.offset or self.node.is_distinct) then
    rows = rows:then_order(table.unpack(source:distinguishing_columns(self.node.alias))):limit(1)
  end
  -- Needed to create rows that belong to the record.
  rawset(rows, "link", { root = root, record = record })
  return rows
end

--- Returns a record's request for the association that its class currently stores under a name. If the class has since replaced that
-- association, uses the original one.
function association_records.request_of_name(root, name, record, db, surplus)
  if surplus ~= nil then require("perilune.runtime.arity").refuse(name, 1, surplus) end
  local kept = root.owner and root.owner[name]
  if not marks.is_association(kept) or kept.node.root.number ~= root.number then
    kept = setmetatable({ node = root }, root.metatable)
  end
  return association_records.request_of(kept, record, db)
end

return association_records
