--- `upsert_all`: inserts many rows per statement, and updates rows that conflict with them.
--
--     Book:upsert_all(list, { target = "isbn", update = { "price" } })
--     Book:upsert_all(list, { update = "none", returning = { "id", "isbn" } })
--
-- The options are the same as for `upsert`. If the class has hooks, each record is upserted separately. Otherwise a statement writes
-- many rows, and records are not changed.

local null = require("perilune.native.values").null
local databases = require "perilune.native.databases"
local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local record_class = require "perilune.records.class"
local column_types = require "perilune.schema.column_types"
local column_details = require "perilune.records.column_details"
local record_fields = require "perilune.records.fields"
local record_keys = require "perilune.records.keys"
local record_options = require "perilune.records.options"
local record_values = require "perilune.records.values"
local record_failures = require "perilune.records.failures"
local record_sql = require "perilune.records.sql"
local sql_names = require "perilune.runtime.names"
local upsert_sql = require "perilune.records.upsert_sql"
local raise = errors.raise

local bulk_upsert = {}

--- The maximum number of values bound in a statement. Larger statements would cost more than they save.
local most_values = 640

-- Elements --------------------------------------------------------------------------------------------------------------------

--- Returns the stored value of a field of an element, which is a record or a table of columns.
local function value_of(details, element, column, is_record)
  if is_record then
    local stored = record_values.stored(details, element, column)
    record_values.check_type(details, column, stored, element)
    return stored
  end
  local value = element[column]
  record_values.check_type(details, column, value)
  if value == nil or value == null or not details.converters[column] then return value end
  return record_values.store(details, nil, column, value)
end

local function check_element(class, details, element)
  if native_records.class_of(element) then
    local own = native_records.class_of(element)
    if own ~= class and class:is(element) and require("perilune.records.hooks").has_hooks(record_class.info(own)) then
      raise("argument", "the record belongs to a class with hooks that extends this one; write records of that class separately")
    end
    if class:is(element) then return true end
    raise("argument", "expected a record of `" .. details.schema.name .. "`, got " .. errors.describe(element))
  elseif type(element) ~= "table" or getmetatable(element) ~= nil then
    raise("argument", "expected a record or a table of columns, got " .. errors.describe(element))
  end
  for name in next, element do
    if not details.declared[name] then errors.raise_unknown_column(name, details.schema.name, details.columns) end
    if details.generated[name] then raise("argument", ("`%s` is a generated column, which cannot be written"):format(name)) end
  end
  return false
end

--- Returns the columns for which an element has values, the values, and whether the element is a record with a row.
local function read_element(class, details, element, db)
  local writing = require "perilune.records.writing"
  if writing.is_draft(element) then element = require("perilune.records.drafts").to_record(record_class.info(class), "upsert", element, db) end
  local info = record_class.info(class)
  if info.computed and type(element) == "table" and getmetatable(element) == nil then
    for name in next, info.computed do
      if element[name] ~= nil then
        element = class(element)
        break
      end
    end
  end
  local is_record = check_element(class, details, element)
  if is_record then record_values.note_cleared(details, element) end
  local names, values = {}, {}
  for _, column in ipairs(details.columns) do
    local value = not details.generated[column] and value_of(details, element, column, is_record)
    if value ~= nil and value ~= false or value == false and not details.generated[column] then
      names[#names + 1], values[#values + 1] = column, value
    end
  end
  if #names == 0 then raise("argument", "expected at least one column to write") end
  return names, values, is_record and native_records.knows_row(element)
end

-- Statements --------------------------------------------------------------------------------------------------------------------

--- Creates the form of rows that have the same columns: the statement that writes them, and the conversions of their values.
-- @tparam boolean has_row whether the rows come from records with a row
local function make_form(details, names, has_row, options, returned)
  local clause, parameters = upsert_sql.make(details, names, options, has_row)
  local bound = {}
  for index, parameter in ipairs(parameters or {}) do
    local value = parameter.value
    if parameter.column then
      value = record_values.store(details, nil, parameter.column, value)
      record_values.check_type(details, parameter.column, value)
    end
    bound[index] = value == nil and null or value
  end
  local converts, holds, description = false, {}, details.description
  for index, name in ipairs(names) do
    converts = converts or details.converters[name] ~= nil
    holds[index] = description.columns[description.positions[sql_names.fold(name)]].holds or false
  end
  return {
    info = details, description = details.description, names = names, clause = clause, returned = returned, bound = bound, width = #names,
    converts = converts or has_row, holds = holds, most_rows = math.max(1, most_values // #names), texts = {},
  }
end

local function text_of(form, count)
  local text = form.texts[count]
  if not text then
    text = record_sql.text(form.description, "insert", form.names, form.clause, form.returned, count)
    form.texts[count] = text
  end
  return text
end

--- Creates a batch of rows of one form that have not been written yet.
local function new_batch(form) return { form = form, count = 0, values = { n = 0 } } end

--- Converts the stored values in returned rows to values of fields.
local function read_rows(form, rows)
  for _, name in ipairs(form.returned) do
    local converter = form.info.converters[name]
    local is_float = not converter and record_fields.is_returned_as_integer(form.info.declared[name])
    for _, row in ipairs((is_float or converter and converter.read) and rows or {}) do
      local value = row[name]
      if value ~= nil then row[name] = is_float and record_fields.float_of(value) or record_values.read(form.info, {}, name, value) end
    end
  end
  return rows
end

--- Writes the rows of a batch, and appends the returned values to a list.
-- @return the number of written rows
local function write(db, batch, results)
  local form, values = batch.form, batch.values
  if batch.count == 0 then return 0 end
  local n = batch.count * form.width
  for index = 1, #form.bound do values[n + index] = form.bound[index] end
  values.n = n + #form.bound
  local text, count = text_of(form, batch.count), 0
  if results then
    local rows = read_rows(form, db:fetch_all(text, values))
    count = #rows
    table.move(rows, 1, count, #results + 1, results)
  else count = db:execute(text, values).changed_rows end
  batch.count = 0
  return count
end

--- Adds an element if it has the same columns as the previous elements, which is the most common case. The names of its columns need not be
-- checked again.
-- @treturn boolean whether the element was added
local function add_alike(batch, element)
  local form = batch.form
  if form.converts or type(element) ~= "table" or getmetatable(element) ~= nil then return false end
  local names, width, values, last, count = form.names, form.width, batch.values, batch.count * form.width, 0
  for index = 1, width do
    local value = element[names[index]]
    if value == nil or form.holds[index] and not column_types.holds(form.holds[index], value) then return false end
    values[last + index] = value
  end
  for _ in next, element do count = count + 1 end
  if count ~= width then return false end
  batch.count = batch.count + 1
  return true
end

--- If the element will update a row, replaces each date in its unique keys with the text stored in that row.
local function adapt_dates(details, db, options, names, values)
  local target, by_name = options.target, {}
  local keys = type(target) == "table" and { target } or target and { { target } } or details.schema.distinct_keys
  for index, name in ipairs(names) do by_name[name] = values[index] end
  for _, key in ipairs(keys) do record_keys.adapt(details, db, key, by_name) end
  for index, name in ipairs(names) do values[index] = by_name[name] end
end

--- Adds an element to the batch for rows with its columns.
-- @treturn table the batch
-- @return the number of rows written from the previous batch
local function add(db, batch, forms, form_of, names, values, has_row, results)
  local key, count = (has_row and "+" or "-") .. table.concat(names, "\0"), 0
  local form = forms[key] or form_of(names, has_row)
  forms[key] = form
  if not batch or batch.form ~= form then
    if batch then count = write(db, batch, results) end
    batch = new_batch(form)
  end
  table.move(values, 1, form.width, batch.count * form.width + 1, batch.values)
  batch.count = batch.count + 1
  return batch, count
end

--- Writes the elements of a list. Consecutive elements with the same columns are written together.
local function write_all(class, details, db, list, options, returned, results)
  local forms, batch, count = {}, nil, 0
  local function form_of(names, has_row) return make_form(details, names, has_row, options, returned) end
  for position = 1, #list do
    local element = list[position]
    if batch and batch.count == batch.form.most_rows then count = count + write(db, batch, results) end
    if not (batch and add_alike(batch, element)) then
      local is_done, names, values, has_row = pcall(read_element, class, details, element, db)
      if not is_done then
        record_failures.add_list_index(names, position, "upsert_all")
        error(names, 0)
      end
      if not has_row then adapt_dates(details, db, options, names, values) end
      local written
      batch, written = add(db, batch, forms, form_of, names, values, has_row, results)
      count = count + written
    end
  end
  return batch and count + write(db, batch, results) or 0
end

--- Inserts the elements of a list, and updates the rows that conflict with them. If one element fails, nothing is written.
-- @return the number of written rows; with the option `returning`, the list of returned values
function bulk_upsert.run(class, db, list, options)
  local details = column_details.of_class(class, db)
  options = options or {}
  local returned = record_options.columns(record_class.info(class), options, db)
  local results, count = returned and {} or nil, 0
  local is_done, failure = pcall(databases.guarded, db, function(handle)
    count = write_all(class, details, handle, list, options, returned, results)
  end)
  if not is_done then error(require("perilune.records.errors").explain_many(failure, details.schema.name, details), 0) end
  return results or count
end

return bulk_upsert
