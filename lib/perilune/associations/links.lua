--- Adds and removes links between records, which are rows of another table: `playlist:tracks():add(track)`.
--
-- The links of an association are the rows of its `through` association that lead to an associated row. All verbs respect the conditions
-- and the default scope of the `through` association: rows that do not fulfill these are not links of the association and are never
-- changed.

local perilune = require "perilune"
local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local record_class = require "perilune.records.class"
local column_details = require "perilune.records.column_details"
local record_values = require "perilune.records.values"
local database_argument = require "perilune.runtime.database_argument"
local class_properties = require "perilune.requests.class_properties"
local null = require("perilune.native.values").null
local raise = errors.raise
local association_records = require "perilune.associations.records"

--- The methods of requests for associated records that add or remove links.
local verbs = {}

--- Returns the linking table of a record's request, and the data needed to find its rows.
-- @treturn table `rows`: the request; `name`: the name of the association; `class`: the class of the linking table; `links`: the
--   request for the record's rows in it; `own`: the stored values that link these rows to the record; `columns` and
--   `target_columns`: the columns that link them to `target`
local function pivot_of(self, method, db)
  local link = rawget(self, "link")
  local first, second = link and link.root.options.through, link and link.root.options.using
  if not first or first.node.root.options.through or second.node.root.options.through or second.node.root.kind ~= "belongs_to"
    or first.node.root.kind == "belongs_to"
  then
    local cure = not link and (method == "remove" and "; use Class:delete_one(key) to delete a row" or method == "add" and "; use Class:insert{...} for a row"
      or method == "replace" and "; use Class:upsert{...} for a row") or method == "add" and "; use record:association():insert{...} for a new row"
      or method == "remove" and "; use other:delete(), or set the column that refers to the record to perilune.null" or ""
    raise("argument", method .. ": expected the request of an association with `through`, as in playlist:tracks():" .. method
      .. "(track)" .. cure)
  end
  local owner_columns, pivot_owner_columns = association_records.columns_of(first.node.root, db)
  local pivot = {
    rows = self, name = link.root.name or "the association", method = method, db = db, class = first.node.root.target,
    target = link.root.target, own = {},
  }
  for index, column in ipairs(pivot_owner_columns) do
    local value = association_records.stored_field(link.record, owner_columns[index])
    if value == nil then
      raise("argument", ("%s: the record has no `%s` yet; insert it first"):format(method, owner_columns[index]))
    end
    pivot.own[column] = value
  end
  pivot.own_names = pivot_owner_columns
  pivot.columns, pivot.target_columns = association_records.columns_of(second.node.root, db)
  pivot.links = association_records.request_of(first, link.record, db)
  return pivot
end

--- Returns the stored values that link rows to a record, in the order of `pivot.columns`. The argument is the record or its key.
local function values_of(pivot, linked)
  if record_class.info_of(linked) then
    if not pivot.target:is(linked) then
      raise("argument", pivot.method .. ": expected a record of `" .. class_properties.table(pivot.target) .. "`, got "
        .. class_properties.name_beside(linked, pivot.target))
    end
    local values = {}
    for index, column in ipairs(pivot.target_columns) do
      values[index] = association_records.stored_field(linked, column)
      if values[index] == nil then
        raise("argument", ("%s: the record has no `%s` yet; insert it first"):format(pivot.method, column))
      end
    end
    return values
  end
  if linked == nil or linked == null or type(linked) == "table" and getmetatable(linked) == nil or #pivot.columns > 1 then
    raise("argument", pivot.method .. ": expected a record or its key, got " .. errors.describe(linked))
  end
  return { record_values.store(column_details.of_class(pivot.target, pivot.db), nil, pivot.target_columns[1], linked) }
end

--- Returns the condition that columns have the given stored values.
local function equal(rows, names, values)
  local condition
  for index, name in ipairs(names) do
    local part = rows.node.root.source:column(name, rows.node.alias):eq(perilune.value(values[index]))
    condition = condition and condition & part or part
  end
  return condition
end

--- Returns the record's links that lead to rows of the association.
local function own_links(pivot)
  if #pivot.columns == 1 then
    local column = pivot.links.node.root.source:column(pivot.columns[1], pivot.links.node.alias)
    return pivot.links:filter(column:is_in(pivot.rows:select(pivot.target_columns[1])))
  end
  local condition
  for _, row in ipairs(pivot.rows:select(table.unpack(pivot.target_columns)):fetch_all(pivot.db)) do
    local values = {}
    for index, column in ipairs(pivot.target_columns) do values[index] = row[column] end
    local part = equal(pivot.links, pivot.columns, values)
    condition = condition and condition | part or part
  end
  return condition and pivot.links:filter(condition) or pivot.links:none()
end

--- Deletes links as records of their class, so that hooks and behaviors run. If their table has no key, one statement deletes all of them.
-- @return the number of deleted links
local function delete_links(pivot, links)
  if #record_class.description(pivot.class, pivot.db).key == 0 then return links:delete_all(pivot.db).changed_rows end
  local count = 0
  for _, link in ipairs(links:fetch_all(pivot.db)) do
    if link:delete(pivot.db) ~= false then count = count + 1 end
  end
  return count
end

--- Returns the most recently deleted link to a record, if the class deletes softly and such a link exists.
local function deleted_link(pivot, values, fields)
  local deleted_at = class_properties.behaviour(pivot.class, "soft_delete")
  if not deleted_at then return nil end
  local stored = {}
  for name, value in pairs(fields) do stored[name] = value end
  for name, value in pairs(pivot.own) do stored[name] = perilune.value(value) end
  local rows = pivot.class:unscoped():filter(stored)
  local source, order = rows.node.root.source, {}
  local column = source:column(deleted_at, rows.node.alias)
  for index, key in ipairs(source:key(rows.node.alias)) do order[index] = key:desc() end
  return rows:filter(equal(rows, pivot.columns, values)):filter(column:is_not_null()):order(column:desc(), table.unpack(order)):fetch_one(pivot.db)
end

--- Raises for columns of a link that the association sets itself, or whose values contradict its conditions.
local function check_columns(pivot, columns)
  for name in next, columns do
    if type(name) ~= "string" then
      raise("argument", pivot.method .. ": expected columns of the link as { column = value, ... }, got " .. errors.describe(name))
    end
  end
  for _, names in ipairs{ pivot.columns, pivot.own_names } do
    for _, name in ipairs(names) do
      if columns[name] ~= nil then
        raise("argument", ("%s: `%s` is set by the association, and cannot be given"):format(pivot.method, name))
      end
    end
  end
  association_records.check_agrees(pivot.links, pivot.method, columns, pivot.db)
end

--- Updates columns of the existing links to a record.
local function update_links(pivot, values, columns)
  if next(columns) == nil then return end
  local links = pivot.links:filter(equal(pivot.links, pivot.columns, values))
  if #record_class.description(pivot.class, pivot.db).key == 0 then
    links:update_all(pivot.db, columns)
    return
  end
  for _, link in ipairs(links:fetch_all(pivot.db)) do link:update_changes(pivot.db, columns) end
end

--- Inserts a link with the values that the association's conditions require. Converts keys to the form in which the linked rows store them.
local function insert_link(pivot, values, fields)
  local details, row = column_details.of_class(pivot.class, pivot.db), {}
  for name, value in pairs(pivot.own) do row[name] = record_values.as_row(details, name, value) end
  for index, name in ipairs(pivot.columns) do row[name] = record_values.as_row(details, name, values[index]) end
  local made = pivot.class.from_row(row)
  record_class.set_fields(made, fields)
  made:insert(pivot.db)
end

--- Raises if a newly linked record is not among the rows of the association, because it does not fulfill the association's conditions.
local function check_is_linked(pivot, values)
  if pivot.rows:filter(equal(pivot.rows, pivot.target_columns, values)):exists(pivot.db) then return end
  raise("argument", ("%s: the record does not fulfil the conditions of `%s`; change the record, or add a link that fulfils them by "
    .. "`%s:insert{...}`"):format(pivot.method, pivot.name, class_properties.table(pivot.class)))
end

--- Adds a link unless it exists, and sets its columns in either case. Restores a softly deleted link.
local function add_link(pivot, values, columns)
  local present = pivot.rows:filter(equal(pivot.rows, pivot.target_columns, values))
  if present:exists(pivot.db) then return update_links(pivot, values, columns) end
  local fields = association_records.fields_of_conditions(pivot.links, pivot.class, pivot.db)
  for name in pairs(pivot.own) do fields[name] = nil end
  local deleted = deleted_link(pivot, values, fields)
  if deleted then
    deleted:restore(pivot.db)
    if next(columns) ~= nil then deleted:update_changes(pivot.db, columns) end
  else
    for name, value in pairs(columns) do fields[name] = value end
    insert_link(pivot, values, fields)
  end
  check_is_linked(pivot, values)
end

local function is_list(value)
  return type(value) == "table" and getmetatable(value) == nil and value ~= null
end

--- Returns the argument of a verb as a list: a record, its key, or a list of these.
local function list_of(method, given)
  if given == nil then raise("argument", method .. ": expected a record, its key, or a list of these, got nil") end
  if not is_list(given) then return { given } end
  for key in next, given do
    if math.type(key) ~= "integer" or key < 1 or key > #given then
      raise("argument", ("%s: expected a list of records or keys, got a table with the key %s%s"):format(method, errors.describe(key),
        method == "add" and type(key) == "string" and "; use insert{ column = value } for a new record" or ""))
    end
  end
  return given
end

--- Links a record, its key, or a list of these. Keeps existing links.
-- @tparam ?table columns values for columns of the links, new and existing ones
function verbs:add(db, linked, columns)
  local list = list_of("add", linked)
  if columns ~= nil and (not is_list(columns) or columns[1] ~= nil) then
    raise("argument", "add: argument 2: expected columns of the link as { column = value, ... }, got "
      .. (is_list(columns) and "a list" or errors.describe(columns)) .. "; pass several records as a list, add{ a, b }")
  end
  db, columns = db or native_records.default_database(), columns or {}
  native_records.with_access(db, "guard", function()
    local pivot = pivot_of(self, "add", db)
    check_columns(pivot, columns)
    for _, element in ipairs(list) do add_link(pivot, values_of(pivot, element), columns) end
  end)
end

--- Removes the links to one or more records, but not the records. Returns the number of removed links.
function verbs:remove(db, linked)
  local list, count = list_of("remove", linked), 0
  db = db or native_records.default_database()
  native_records.with_access(db, "guard", function()
    local pivot = pivot_of(self, "remove", db)
    for _, element in ipairs(list) do
      local links = own_links(pivot)
      count = count + delete_links(pivot, links:filter(equal(links, pivot.columns, values_of(pivot, element))))
    end
  end)
  return count
end

--- Returns the links that lead to none of the records in a list.
local function other_links(links, pivot, list)
  if #list == 0 then return links end
  local column = links.node.root.source:column(pivot.columns[1], links.node.alias)
  if #pivot.columns == 1 then
    local stored = {}
    for index, values in ipairs(list) do stored[index] = perilune.value(values[1]) end
    return links:filter(~column:is_in(stored))
  end
  for _, values in ipairs(list) do links = links:filter(~equal(links, pivot.columns, values)) end
  return links
end

--- Adds and removes links so that they match a list. Keeps existing links to records in the list.
function verbs:replace(db, list)
  if type(list) ~= "table" or getmetatable(list) ~= nil then
    raise("argument", "replace: argument 1: expected a list of records or keys, got " .. errors.describe(list))
  end
  db = db or native_records.default_database()
  native_records.with_access(db, "guard", function()
    local pivot, wanted = pivot_of(self, "replace", db), {}
    for index, linked in ipairs(list) do wanted[index] = values_of(pivot, linked) end
    delete_links(pivot, other_links(own_links(pivot), pivot, wanted))
    for _, values in ipairs(wanted) do add_link(pivot, values, {}) end
  end)
end

database_argument.precede(verbs, "", { add = 2, remove = 1, replace = 1 })

require("perilune.requests.request").add_verbs(verbs)
