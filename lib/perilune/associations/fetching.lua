--- Fetches requests with associations. Each row of a statement with joins becomes nested records. Each association of `including_all` is
-- fetched by one additional statement for all records.

local perilune = require "perilune"
local errors = require "perilune.native.errors"
local record_class = require "perilune.records.class"
local class_properties = require "perilune.requests.class_properties"
local native_records = require "perilune.native.records"
local raise = errors.raise
local request_plans = require "perilune.requests.plans"
local fetching = require "perilune.records.fetching"
local association_keys = require "perilune.associations.keys"
local roots = require("perilune.associations.association").roots
local value_types = require "perilune.requests.value_types"
local null = require("perilune.native.values").null

local association_fetching = {}

--- The record fields in which this module stores keys for its own use, and the name of the column in such a field. No table column can have
-- these names.
local function key_field(index) return "\0key " .. index end
local key_name = "\0key"

-- Segments --------------------------------------------------------------------------------------------------------------------

--- Returns, by position in the result, the names of those columns of a segment whose fields contain the stored values unchanged.
local function plain_names(segment, class)
  local names, plain = {}, {}
  if not segment.whole then return names end
  for _, column in ipairs(record_class.description(class).columns) do plain[column.name] = column.keeps_blobs end
  for index, name in ipairs(segment.names) do
    if name and plain[name] then names[segment.first + index - 1] = name end
  end
  return names
end

--- Returns the names of a segment's columns; false for a column that has the name reported by SQLite.
local function column_names(segment)
  local names = table.move(segment.names, 1, #segment.names, 1, {})
  for column, name in pairs(segment.extras) do names[column - segment.first + 1] = name end
  return names
end

--- For each class, a class for the same table whose fields contain the stored values unchanged.
local raw_classes = setmetatable({}, { __mode = "k" })

local function raw_class(class)
  local schema = record_class.description(class).schema
  local known = raw_classes[class]
  if known and known.schema == schema then return known.class end
  local types = {}
  for _, column in ipairs(schema.columns) do types[column.name] = "any" end
  known = { schema = schema, class = perilune.record(class_properties.table(class), { types = types, fields = require("perilune.records.fields").option_of(schema) }) }
  raw_classes[class] = known
  return known.class
end

--- Describes the records to create, for the row path: one segment for each segment of the plan, and one for each key column that is not a
-- field. The records of these key columns are removed later.
local function describe(plan, class)
  local list = {}
  for index, segment in ipairs(plan.segments) do
    -- Rows of a common table become plain rows later.
    segment.class = index == 1 and class or roots[segment.tag].target or raw_class(class)
    -- A selected column may have the name of a different column of the table, so the request converts the fields.
    segment.made_class = segment.whole and segment.class or raw_class(segment.class)
    segment.plain = plain_names(segment, segment.class)
    segment.fields = {}
    list[index] = {
      class = segment.made_class, first = segment.first, count = segment.count, names = column_names(segment), parent = segment.parent,
      field = index > 1 and segment.field or nil, optional = segment.optional, fields = segment.fields,
    }
  end
  for _, segment in ipairs(plan.segments) do
    if segment.parent then
      local fields = plan.segments[segment.parent].fields
      fields[#fields + 1] = segment.field
    end
  end
  return list
end

--- Returns a function that reads the value of a result column from a segment's record.
local function reader(list, plan, segment_index, column)
  local segment = plan.segments[segment_index]
  local name = segment.plain[column]
  if name then return function(record) return rawget(record, name) end end
  local field = key_field(#list)
  -- A column after the segment's own columns belongs to a table that is joined between the two classes. It may have the same name as a
  -- column of the class, but a different type.
  local is_own = column < segment.first + segment.count
  list[#list + 1] = {
    class = raw_class(segment.class), first = column, count = 1, names = not is_own and { key_name } or nil, parent = segment_index, field = field,
    keeps_blobs = true,
  }
  plan.hidden[#plan.hidden + 1] = { segment = segment_index, field = field }
  return function(record)
    local holder = rawget(record, field)
    if holder == nil then return nil end
    local _, value = next(holder)
    return value
  end
end

--- Returns functions that read the values of several columns.
local function readers(list, plan, segment_index, columns)
  local functions = {}
  for index, column in ipairs(columns) do functions[index] = reader(list, plan, segment_index, column) end
  return functions
end

--- Prepares a plan before its first use.
local function prepare(plan, class)
  if plan.layout then return end
  plan.hidden = {}
  local list = describe(plan, class)
  plan.key_name = #plan.key_columns == 1 and plan.segments[1].plain[plan.key_columns[1]] or nil
  plan.key_readers = readers(list, plan, 1, plan.key_columns)
  for _, prefetch in ipairs(plan.prefetches) do
    local first, segment = prefetch.parent_columns[1], plan.segments[prefetch.segment]
    prefetch.parent_name = #prefetch.parent_columns == 1 and segment.plain[first] or nil
    prefetch.parent_readers = readers(list, plan, prefetch.segment, prefetch.parent_columns)
    local fields = plan.segments[prefetch.segment].fields
    fields[#fields + 1] = prefetch.name
    local root = roots[prefetch.tag]
    for _, slot in ipairs(prefetch.plan.slots) do prefetch.takes_keys = prefetch.takes_keys or slot == "keys" end
    prefetch.class = root.target or raw_class(class)
    prefetch.is_chosen = not prefetch.plan.segments[1].whole
    prefetch.root = root
    -- If an association of a table to itself is followed repeatedly, only the request itself has a node for it.
    prefetch.plan.node = value_types.node_in(value_types.nodes_of(plan)[prefetch.segment], "all", prefetch.name) or plan.node
  end
  plan.layout = list
end

-- Records of all segments -------------------------------------------------------------------------------------------------------

--- Returns the records of a segment in the order of the result's rows; false for a row that has no record in this segment.
local function records_of(plan, rows, segment_index, known)
  if segment_index == 1 then return rows end
  if known[segment_index] then return known[segment_index] end
  local segment = plan.segments[segment_index]
  local list = {}
  for index, parent in ipairs(records_of(plan, rows, segment.parent, known)) do
    list[index] = parent and rawget(parent, segment.field) or false
  end
  known[segment_index] = list
  return list
end

local function decode(plan, rows, known)
  for index, segment in ipairs(plan.segments) do
    local info = record_class.info(segment.made_class)
    local _, decodes_in_lua = native_records.model_flags(info.model)
    if decodes_in_lua then
      for _, record in ipairs(records_of(plan, rows, index, known)) do
        if record then fetching.decode_one(info, record) end
      end
    end
  end
end

local function drop_hidden(plan, rows, known)
  for _, hidden in ipairs(plan.hidden) do
    for _, record in ipairs(records_of(plan, rows, hidden.segment, known)) do
      if record then rawset(record, hidden.field, nil) end
    end
  end
end

-- Prefetching -------------------------------------------------------------------------------------------------------------------

local fetch_plan

--- The maximum number of keys in a statement. SQLite binds at most 250,000 values.
local most_keys = 50000

--- The set of rows with selected columns that are stored in fields of records. They are not records themselves.
local chosen_rows = setmetatable({}, { __mode = "k" })

--- Marks a row with selected columns. Calling the row returns the request of the association, as for a record in the same field.
local function choose(row, root, name)
  chosen_rows[row] = true
  local key = "\0" .. name
  root.list_metatables[key] = root.list_metatables[key] or {
    __name = "row", __call = function(_, ...) return require("perilune.associations.records").request_of_name(root, name, ...) end,
  }
  setmetatable(row, root.list_metatables[key])
end

local function put(parents, prefetch, record)
  if prefetch.is_chosen and not prefetch.is_plural then choose(record, prefetch.root, prefetch.name) end
  for _, parent in ipairs(parents) do
    local list = rawget(parent, prefetch.name)
    if not prefetch.is_plural then
      if list == nil then rawset(parent, prefetch.name, record) end
    else list[#list + 1] = record end
  end
end

--- Returns the metatable for a list of associated records. A call of the list, `author.books(author)`, returns the record's request for the
-- association with this name.
local function list_metatable(root, name, is_chosen)
  local key = is_chosen and name .. "\0" or name
  local known = root.list_metatables[key]
  if not known then
    known = {
      __name = "list of records", is_chosen = is_chosen,
      __call = function(_, ...) return require("perilune.associations.records").request_of_name(root, name, ...) end,
      __index = function(list, field)
        -- A number is the index after the last element, which each loop reads before it ends.
        if type(field) == "string" then return require("perilune.runtime.missing_list_fields")(list, field, "record:" .. name .. "()") end
      end,
    }
    root.list_metatables[key] = known
  end
  return known
end

--- Returns whether a value in an association's field consists of rows with selected columns instead of records.
function association_fetching.is_chosen(value)
  if chosen_rows[value] then return true end
  local metatable = getmetatable(value)
  return type(metatable) == "table" and rawget(metatable, "is_chosen") == true and rawget(value, 1) ~= nil
end

--- Turns a list of records into the value of an association's field.
function association_fetching.make_list(root, name, list) return setmetatable(list, list_metatable(root, name)) end

--- Prefetches lists whose rows are linked by one integer column on each side, the most common case. Returns false in all other cases.
local function prefetch_simply(self, db, prefetch, parents)
  local name = prefetch.parent_name
  if not name or not prefetch.is_plural or not prefetch.key_forms or prefetch.key_forms[1] ~= "number" then return false end
  local json, first = native_records.prefetch_keys(parents, name, prefetch.takes_keys)
  if not json then return false end
  local children, keys = {}, nil
  if next(first) ~= nil then children, keys = fetch_plan(self, db, prefetch.plan, prefetch.class, json, true) end
  native_records.prefetch_lists(parents, prefetch.name, list_metatable(prefetch.root, prefetch.name, prefetch.is_chosen), name, first, children,
    prefetch.plan.key_name or keys or {})
  return true
end

local function prefetch_into(self, db, prefetch, parents)
  if prefetch_simply(self, db, prefetch, parents) then return end
  if prefetch.is_plural then
    local metatable = list_metatable(prefetch.root, prefetch.name, prefetch.is_chosen)
    for index = 1, #parents do
      local parent = parents[index]
      if parent then rawset(parent, prefetch.name, setmetatable({}, metatable)) end
    end
  end
  local keys, groups = association_keys.collect(prefetch, parents)
  for _, batch in ipairs(association_keys.batches(keys, most_keys, prefetch.number_columns)) do
    local json = not batch.has_texts and association_keys.json(batch.keys)
    -- After all owners were fetched, `prefetch.plan` fetches all rows of the other table. This is possible only with integer keys.
    local plan = json and prefetch.takes_keys and prefetch.plan or prefetch.plan_for_keys(batch.keys)
    plan.node = prefetch.plan.node
    local children, child_keys = fetch_plan(self, db, plan, prefetch.class, json)
    for index, child in ipairs(children) do
      local values = child_keys[index]
      local key = prefetch.key_forms and association_keys.identity(values, prefetch.key_forms) or batch.positions[values[1]]
      -- A search for a number can also find text that does not equal it.
      if groups[key] then put(groups[key], prefetch, child) end
    end
  end
end

--- Converts the records of segments with selected columns to rows.
local function make_rows(plan, rows, known)
  for index = #plan.segments, 1, -1 do
    local segment = plan.segments[index]
    if not segment.whole then
      local names = {}
      for _, name in ipairs(segment.names) do names[#names + 1] = name or nil end
      local parents = segment.parent and records_of(plan, rows, segment.parent, known)
      for position, record in ipairs(records_of(plan, rows, index, known)) do
        if record then
          local row = {}
          for key, value in next, record do row[key] = value end
          if parents then
            choose(row, roots[segment.tag], segment.field)
            rawset(parents[position], segment.field, row)
          else rows[position] = row end
        end
      end
    end
  end
end

--- Returns the arguments of a plan's statement, as a list with a field `n`.
local function arguments_of(self, plan, keys)
  local arguments = { n = #plan.slots }
  for index, slot in ipairs(plan.slots) do
    if slot == "keys" then arguments[index] = keys
    elseif slot == 0 then arguments[index] = plan.constants[index]
    else arguments[index] = request_plans.value(self, slot) end
  end
  return arguments
end

--- Completes the records of fetched rows after their lists have been set.
local function finish(plan, rows, known)
  drop_hidden(plan, rows, known)
  decode(plan, rows, known)
  if plan.booleans[1] then
    local convert_booleans = require("perilune.requests.results").convert_booleans
    for index in ipairs(plan.segments) do convert_booleans(records_of(plan, rows, index, known), plan, index) end
  end
  for index in ipairs(plan.segments) do value_types.convert(records_of(plan, rows, index, known), plan, index) end
  make_rows(plan, rows, known)
end

--- Fetches the rows of a plan and their associated rows. Returns the rows and, if the plan has keys, the key of each row.
function fetch_plan(self, db, plan, class, keys, is_simple)
  prepare(plan, class)
  local arguments = arguments_of(self, plan, keys)
  local rows = arguments.n == 0 and native_records.fetch_records(db, plan.sql, plan.layout)
    or native_records.fetch_records(db, plan.sql, plan.layout, arguments)
  local known, child_keys = {}, {}
  if plan.key_readers[1] and not (plan.key_name and is_simple) then
    for index, record in ipairs(rows) do child_keys[index] = association_keys.values_of(plan.key_readers, record) end
  end
  for _, prefetch in ipairs(plan.prefetches) do
    prefetch_into(self, db, prefetch, records_of(plan, rows, prefetch.segment, known))
  end
  finish(plan, rows, known)
  return rows, child_keys
end

--- Fetches all records of a request, in a single read of the database.
function association_fetching.fetch_all(self, db, plan)
  local class = self.node.root.source.class
  if not plan.prefetches[1] then return (fetch_plan(self, db, plan, class)) end
  return (native_records.with_access(db, "read", function() return (fetch_plan(self, db, plan, class)) end))
end

--- Iterates over the records of a request that includes at most one record of each association.
function association_fetching.rows(self, db, plan)
  if plan.prefetches[1] then
    raise("argument", "rows: a request that includes lists (including_all) is fetched as a whole; use fetch_all, or in_batches for parts")
  end
  prepare(plan, self.node.root.source.class)
  local arguments = arguments_of(self, plan)
  local function start(...) return native_records.record_rows(db, plan.sql, plan.layout, ...) end
  local next_record, state, control, closing
  if arguments.n == 0 then next_record, state, control, closing = start()
  else next_record, state, control, closing = start(arguments) end
  return function(...)
    local rows = { next_record(...) }
    if rows[1] ~= nil then finish(plan, rows, {}) end
    return rows[1]
  end, state, control, closing
end

-- Preloading -------------------------------------------------------------------------------------------------------------------

--- Returns a copy of a prefetch that reads the keys from records fetched earlier.
local function for_records(prefetch, segment, db)
  local association_records, readers, owner_columns = require "perilune.associations.records", {}, nil
  for index, column in ipairs(prefetch.parent_columns) do
    local name = segment.names[column - segment.first + 1]
    if not name then
      -- The key is a lazy field, which the plan fetches only to read the key.
      owner_columns = owner_columns or association_records.columns_of(prefetch.root, db)
      name = owner_columns[index]
    end
    readers[index] = function(record) return association_records.stored_field(record, name) end
  end
  return setmetatable({ parent_readers = readers }, { __index = prefetch })
end

--- Sets the associated rows in the fields of records that have been fetched before, with one statement for each association.
-- @param self a request that includes the associations
function association_fetching.preload(self, list, db)
  -- Uses the plan for the first row. The plan for all rows may assume that all owners are fetched, and fetch a whole table.
  local plan, class = request_plans.plan_of(self, db, "first"), self.node.root.source.class
  native_records.with_access(db, "read", function()
    prepare(plan, class)
    for _, prefetch in ipairs(plan.prefetches) do
      for _, record in ipairs(list) do rawset(record, prefetch.name, nil) end
      prefetch_into(self, db, for_records(prefetch, plan.segments[1], db), list)
      if not prefetch.is_plural then
        for _, record in ipairs(list) do
          if rawget(record, prefetch.name) == nil then native_records.add_field(record, prefetch.name) end
        end
      end
    end
  end)
end

return association_fetching
