--- `t.given.TABLE`: rows for a scenario, as a text table or a list of tables.

local errors = require "perilune.native.errors"
local native_records = require "perilune.native.records"
local perilune = require "perilune"
local introspection = require "perilune.schema.introspection"
local arity = require "perilune.runtime.arity"
local state = require "scenarios.base.state"
local cells = lazily "scenarios.tables.cells"
local display = lazily "scenarios.reports.display"
local text_table = lazily "scenarios.tables.text_table"
local scenario_database = lazily "scenarios.data.database"
local sql_names = require "perilune.runtime.names"

local scenario_given = {}

--- Runs a function in the current transaction, or in a new one. Foreign keys are enforced only at its end.
local function in_transaction(f)
  local db = native_records.default_database()
  if not db:is_inside_transaction() then
    return db:write(function(handle)
      handle:execute("PRAGMA defer_foreign_keys = ON")
      return f(handle)
    end)
  end
  local was_deferred = db:fetch_value("PRAGMA defer_foreign_keys")
  db:execute("PRAGMA defer_foreign_keys = ON")
  local result
  db:in_savepoint(function(handle)
    result = f(handle)
    return "commit"
  end)
  if was_deferred == 0 then db:execute("PRAGMA defer_foreign_keys = OFF") end
  return result
end

local function values_text(row, columns)
  local parts = {}
  for index, column in ipairs(columns) do parts[index] = column .. " = " .. display.show(row[column]) end
  return table.concat(parts, ", ")
end

--- Raises for rows that refer to missing rows.
local function check_foreign_keys(what, db, name)
  local violation = db:foreign_key_violations(name)[1]
  if not violation then return end
  local key, found = nil, "a row"
  for _, info in ipairs(db:foreign_keys(name)) do
    if sql_names.same(info.table, violation.referenced_table) then key = key or info end
  end
  if key and violation.rowid then
    local columns = {}
    for index, column in ipairs(key.columns) do columns[index] = '"' .. column:gsub('"', '""') .. '"' end
    local source = '"' .. name:gsub('"', '""') .. '"'
    local row = db:fetch_one(("SELECT %s FROM %s WHERE rowid = ?"):format(table.concat(columns, ", "), source), violation.rowid)
    if row then found = values_text(row, key.columns) end
  end
  errors.raise("constraint_foreignkey", ("%s: %s refers to a row of %s that does not exist"):format(what, found,
    violation.referenced_table), { table = name, columns = key and key.columns })
end

-- Text that is stored as written

--- By table, and by the columns that contain such text: classes that store it without conversion.
local unconverted = {}

--- Returns the class of a table that stores the text of the given columns without conversion.
local function unconverted_class(name, columns)
  local set, types = {}, {}
  for column in pairs(columns) do set[#set + 1], types[column] = column, "any" end
  table.sort(set)
  local id = table.concat(set, "\0")
  local by_columns = unconverted[name] or {}
  unconverted[name] = by_columns
  by_columns[id] = by_columns[id] or perilune.record(name, { types = types })
  return by_columns[id]
end

--- Returns the row of a record as a record of another class; the record itself if its row is not found or cannot be read.
local function fetched_as(class, db, name, record)
  local is_fetched, fetched = pcall(function()
    local key = db:primary_key(name).columns
    if #key == 0 then return class:filter("rowid = last_insert_rowid()"):fetch_one(db) end
    local values = {}
    for _, column in ipairs(key) do values[column] = record[column] end
    return class:filter(values):fetch_one(db)
  end)
  return is_fetched and fetched or record
end

--- Inserts a row. The text in the given columns is stored as written: a date, for example, keeps its form.
-- @tparam ?table columns a set of columns; nil without columns
local function insert(db, class, name, values, columns)
  if not columns then return class:insert(values) end
  return fetched_as(class, db, name, unconverted_class(name, columns):insert(values))
end

local is_date = { date = true, day = true }

-- Text tables

local function columns_by_name(db, name)
  local by_name, names = {}, {}
  for _, column in ipairs(introspection.declared_columns(db, name)) do
    by_name[column.name], names[#names + 1] = column, column.name
  end
  return by_name, names
end

--- Reads the values of a line, the names of values that the database will choose, and the columns for dates whose text is in quotes, or
-- nil.
local function read_line(what, line, number, heads, columns, names)
  local values, unbound, quoted = {}, {}, nil
  for index, cell in ipairs(line) do
    local head = heads[index]
    local place = ("%s: row %d: column `%s`"):format(what, number, head)
    values[head] = cells.value(cell, columns[head], names, place)
    if cell.kind == "name" and values[head] == nil then unbound[head] = cell.text end
    if cell.kind == "text" and is_date[columns[head].content] then
      quoted = quoted or {}
      quoted[head] = true
    end
  end
  return values, unbound, quoted
end

--- Raises the error of an insert, or a clearer one if a name without a value stood for a column that must not be NULL.
local function raise_unbound(what, number, unbound, err)
  local columns = type(err) == "userdata" and err.kind == "constraint_not_null" and err.columns
  for _, column in ipairs(type(columns) == "table" and columns or {}) do
    if unbound[column] then
      errors.raise("text_table", ("%s: row %d: @%s has no value, and the database chooses none for the column `%s`"):format(what, number,
        unbound[column], column))
    end
  end
  error(err, 0)
end

local function insert_text(what, db, class, name, text)
  local parsed = text_table.read(what, text)
  local columns, known = columns_by_name(db, name)
  for _, head in ipairs(parsed.names) do
    if not columns[head] then errors.raise_unknown("column", head, known) end
  end
  local names, records = state.require(what).names, {}
  for number, line in ipairs(parsed.rows) do
    local values, unbound, quoted = read_line(what, line, number, parsed.names, columns, names)
    local is_inserted, record = pcall(insert, db, class, name, values, quoted)
    if not is_inserted then raise_unbound(what, number, unbound, record) end
    for head, bound in pairs(unbound) do
      if record[head] == nil then
        errors.raise("text_table", ("%s: row %d: @%s has no value: column `%s` is NULL")
          :format(what, number, bound, head))
      end
      names[bound] = record[head]
    end
    records[number] = record
  end
  return records
end

-- Lists

--- Returns the columns for dates in which a row has the text of a date, or nil.
local function texts_of_dates(values, columns)
  local set
  for column, value in pairs(values) do
    if type(value) == "string" and columns[column] and is_date[columns[column].content] and cells.is_instant(value) then
      set = set or {}
      set[column] = true
    end
  end
  return set
end

local function insert_list(what, db, class, name, list)
  if #list == 0 and next(list) ~= nil then list = { list } end
  local records, columns = {}, columns_by_name(db, name)
  for index, values in ipairs(list) do
    if type(values) ~= "table" then
      state.mistake("%s: expected tables of columns in the list, got %s at position %d", what,
        errors.describe(values), index)
    end
    records[index] = insert(db, class, name, values, texts_of_dates(values, columns))
  end
  return records
end

--- Inserts rows into a table. Foreign keys are checked after all inserts.
-- @param rows a text table, a list of tables of columns, or a single such table
-- @return the records, in order
function scenario_given.insert(name, rows)
  local what = "t.given." .. name
  if type(rows) ~= "string" and type(rows) ~= "table" then
    errors.raise("argument", what .. ": expected a text table or a list of rows, got " .. errors.describe(rows))
  end
  local class = scenario_database.class(name)
  return in_transaction(function(db)
    local is_text = type(rows) == "string"
    local records = is_text and insert_text(what, db, class, name, rows) or insert_list(what, db, class, name, rows)
    check_foreign_keys(what, db, name)
    return setmetatable(records, { __name = "list", __index = function(_, field)
      if type(field) ~= "string" then return nil end
      errors.raise("unknown_member", ("%s returns a list of records, which has no field `%s`; use list[1].%s, or t.make.%s{ column = "
        .. "value } for one record"):format(what, field, field, name), { name = field })
    end })
  end)
end

--- Returns `t.given`.
function scenario_given.proxy()
  local proxy
  proxy = state.proxy("t.given", function(name)
    scenario_database.require_table("t.given", name)
    local insert = arity.limited("t.given." .. name, function(rows) return scenario_given.insert(name, rows) end)
    return function(...)
      if rawequal((...), proxy) then state.mistake("t.given.%s: call it with a dot, as in t.given.%s(rows)", name, name) end
      return insert(...)
    end
  end)
  return proxy
end

scenario_given.in_transaction = in_transaction

return scenario_given
