--- Reads records: find, fetch_one, fetch_all, rows, fetch_count, exists; also creates values from rows with a function.

local errors = require "perilune.native.errors"
local arity = require "perilune.runtime.arity"
local checks = require "perilune.runtime.checks"
local databases = require "perilune.native.databases"
local native_rows = require "perilune.native.rows"
local null = require("perilune.native.values").null
local native_sql = require "perilune.native.sql"
local marks = require "perilune.runtime.marks"
local native_records = require "perilune.native.records"
local raise = errors.raise
local record_class = require "perilune.records.class"
local record_failures = require "perilune.records.failures"
local record_description = require "perilune.records.description"
local column_details = require "perilune.records.column_details"
local record_values = require "perilune.records.values"
local verbs = {}
local sql_names = require "perilune.runtime.names"
local stored_values = require "perilune.runtime.stored_values"

local fetching = {}

--- Splits the arguments of a class verb: the database (or the default), the number of other arguments, and these.
local function split(class, verb, ...)
  local info = record_class.require_class(verb, class)
  local is_given = native_records.is_database((...))
  local db = is_given and (...) or native_records.default_database()
  -- The description shows whether records have to be decoded. A statement may belong to another database.
  if not info.is_described and not native_records.is_statement((...)) then info.is_described = record_class.description(class, db) ~= nil end
  if is_given then return db, select("#", ...) - 1, select(2, ...) end
  return db, select("#", ...), ...
end

-- Decoding

--- Runs the Lua part of reading a record: first the conversion of columns, then the hook did_fetch.
local function decode(info, made)
  for ancestor in record_class.ancestors(info) do
    if ancestor.decode then
      ancestor.decode(info, made)
      break
    end
  end
  local did_fetch = info.lookup.did_fetch
  if did_fetch then did_fetch(made) end
  return made
end

verbs.did_fetch = false

local function decodes_in_lua(info)
  local _, is_decoding = native_records.model_flags(info.model)
  return is_decoding
end

local function decode_one(info, made)
  if made ~= nil and decodes_in_lua(info) then decode(info, made) end
  return made
end

local function decode_all(info, list)
  if decodes_in_lua(info) then
    for index = 1, #list do decode(info, list[index]) end
  end
  return list
end

local function decode_rows(info, next_record, state, control, closing)
  if info.is_described and not decodes_in_lua(info) then return next_record, state, control, closing end
  return function(...) return decode_one(info, next_record(...)) end, state, control, closing
end

fetching.decode_one, fetching.decode_all, fetching.decode_rows = decode_one, decode_all, decode_rows

-- Fetching

local statements = {
  select = true, with = true, values = true, pragma = true, explain = true, insert = true, update = true, delete = true, replace = true,
}

--- Raises for SQL text that is only a condition, or the rest of a statement.
local function check_is_statement(verb, sql)
  local word = sql:match("^%s*(%a+)%f[%A]")
  if not word or statements[word:lower()] then return end
  raise("argument", ("%s: expected a statement that begins with SELECT, got %q; use Class:filter(\"name = ?\", value):%s() for a condition"):format(verb,
    #sql > 40 and sql:sub(1, 37) .. "..." or sql, verb))
end

--- Returns whether SQL changes rows and returns them, without a conflict clause that keeps some of the changes after an error.
local function returns_changes(sql)
  if not sql:find "[Rr][Ee][Tt][Uu][Rr][Nn][Ii][Nn][Gg]" then return false end
  local words = {}
  for _, token in ipairs(native_sql.tokens(sql)) do
    if token.kind == "word" then words[token.text:upper()] = true end
  end
  local changes = words.INSERT or words.UPDATE or words.DELETE or words.REPLACE
  return words.RETURNING and changes and not words.FAIL and not words.ROLLBACK
end

--- Calls a fetch function with SQL. If another connection has changed the table, SQLite notices this only when the statement runs. A
-- statement that changes rows is then rolled back and run again with the new columns.
local function fetch_sql(fetch, db, sql, ...)
  if not returns_changes(sql) then return fetch(db, sql, ...) end
  local is_done, result = pcall(databases.guarded, db, fetch, sql, ...)
  if not is_done and type(result) ~= "string" and result.kind == "schema" then
    is_done, result = pcall(databases.guarded, db, fetch, sql, ...)
  end
  if not is_done then error(result, 0) end
  return result
end

local function fetch_records(db, sql, ...) return fetch_sql(native_records.fetch_records, db, sql, ...) end

--- The types of values that may be a date, or a table with dates.
local may_be_date = { userdata = true, table = true }

local function has_date(values)
  for index = 1, values.n do
    if may_be_date[type(values[index])] then return true end
  end
  return false
end

--- Checks a statement of a class if one of its arguments may be a date.
local function check_values(verb, class, sql, first, second, ...)
  if may_be_date[type(first)] or may_be_date[type(second)] or select("#", ...) > 0 and has_date(table.pack(...)) then
    marks.check_statement(verb, class, sql, table.pack(first, second, ...))
  end
end

--- Calls a fetch function of the row path depending on the arguments: none (the whole table), SQL with arguments, or a statement
-- with arguments.
local function run(class, verb, on_database, on_statement, db, count, source, ...)
  if count == 0 then return on_database(db, record_class.description(class, db).select, class) end
  if type(source) == "string" then
    check_is_statement(verb, source)
    if count > 1 then check_values(verb, class, source, ...) end
    return on_database(db, source, class, ...)
  end
  if native_records.is_statement(source) then return on_statement(source, class, ...) end
  local cure = math.type(source) == "integer" and verb ~= "fetch_count" and ("use Class:limit(%d):%s() for some of the rows"):format(source, verb)
    or type(source) == "table" and getmetatable(source) == nil and source[1] ~= nil and ("use Class:filter_key{ 1, 2 }:%s() for keys"):format(verb)
    or ("use Class:filter{ column = value }:%s() for conditions"):format(verb)
  raise("argument", ("%s: argument 1: expected SQL or a prepared statement, got %s; %s"):format(verb, errors.describe(source), cure))
end

--- Fetches records from the whole table, from SQL, or from a prepared statement.
function verbs.fetch_all(class, ...)
  local info = record_class.require_class("fetch_all", class)
  return decode_all(info, run(class, "fetch_all", fetch_records, native_records.fetch_statement_records,
    split(class, "fetch_all", ...)))
end

--- Iterates over the records that SQL returns. A statement that changes rows makes all its changes before its first record is returned.
local function rows_of_sql(db, sql, ...)
  if not returns_changes(sql) then return native_records.record_rows(db, sql, ...) end
  local list, index = fetch_records(db, sql, ...), 0
  return function()
    index = index + 1
    return list[index]
  end
end

--- Iterates over the records that fetch_all would return.
function verbs.rows(class, ...)
  local info = record_class.require_class("rows", class)
  return decode_rows(info, run(class, "rows", rows_of_sql, native_records.statement_record_rows, split(class, "rows", ...)))
end

--- Returns the number of rows in the table.
function verbs.fetch_count(class, ...)
  local db, count = split(class, "fetch_count", ...)
  if count > 0 then raise("argument", "fetch_count: takes no arguments other than a database; use Class:filter{ column = value }:fetch_count() to count some rows, "
    .. "Class:from_sql(...):fetch_count() to count rows of SQL") end
  return db:fetch_value(record_class.description(class, db).count)
end

--- Returns an object whose methods fetch records from the given SQL.
function verbs.from_sql(class, sql, ...)
  record_class.require_class("from_sql", class)
  if type(sql) ~= "string" then
    raise("argument", "from_sql: argument 1: expected SQL, got " .. errors.describe(sql))
  end
  return fetching.make_source(class, sql, table.pack(...))
end

local methods = {}
local source_metatable = { __name = "records from SQL", __receiver = "from_sql", __metatable = "records from SQL" }
local source_kind = {
  is = function(value) return getmetatable(value) == "records from SQL" end, name = "records from SQL", example = "Class:from_sql(...)",
}
local checked_methods = require("perilune.runtime.receivers").checked_methods(source_kind, methods)

function source_metatable.__index(_, name)
  local method = checked_methods[name]
  if method then return method end
  local names = {}
  for known in pairs(methods) do names[#names + 1] = known end
  table.sort(names)
  raise("unknown_method", ("no method `%s` in records from SQL, which are no request; available: %s"):format(tostring(name),
    table.concat(names, ", ")), { name = name })
end

function fetching.make_source(class, sql, arguments)
  return setmetatable({ class = class, sql = sql, arguments = arguments, has_date = has_date(arguments) }, source_metatable)
end

function methods:fetch_all(db)
  db = checks.database("fetch_all: argument 1", db)
  return verbs.fetch_all(self.class, db, self.sql, table.unpack(self.arguments, 1, self.arguments.n))
end

function methods:rows(db)
  db = checks.database("rows: argument 1", db)
  return verbs.rows(self.class, db, self.sql, table.unpack(self.arguments, 1, self.arguments.n))
end

function methods:fetch_one(db)
  db = checks.database("fetch_one: argument 1", db)
  if self.has_date then marks.check_statement("fetch_one", self.class, self.sql, self.arguments) end
  return decode_one(record_class.info(self.class),
    fetch_sql(native_records.fetch_record, db, self.sql, self.class, table.unpack(self.arguments, 1, self.arguments.n)))
end

function methods:fetch_count(db)
  db = checks.database("fetch_count: argument 1", db)
  local arguments = self.arguments
  if self.has_date then marks.check_statement("fetch_count", self.class, self.sql, arguments) end
  if not self.sql:find(";", 1, true) then
    return db:fetch_value("SELECT COUNT(*) FROM (" .. self.sql .. "\n)", table.unpack(arguments, 1, arguments.n))
  end
  -- SQL with a semicolon and trailing comments cannot be nested in other SQL.
  local count = 0
  for _ in db:rows(self.sql, table.unpack(arguments, 1, arguments.n)) do count = count + 1 end
  return count
end

require("perilune.runtime.arity").limit_all(methods, "")

-- By key

local function is_list(value)
  return #value > 0 or next(value) == nil
end

local function list_keys(description)
  local lists = {}
  for index, names in ipairs(description.schema.distinct_keys) do lists[index] = "(" .. table.concat(names, ", ") .. ")" end
  return #lists > 0 and table.concat(lists, ", ") or "none"
end

--- Returns whether the columns form a unique key.
local function is_unique(description, given)
  local function matches(names)
    local count = 0
    for _, name in ipairs(names) do
      if given[description.positions[sql_names.fold(name)] or 0] == nil then return false end
      count = count + 1
    end
    for _ in pairs(given) do count = count - 1 end
    return count == 0
  end
  if matches(description.key) and #description.key > 0 then return true end
  for _, names in ipairs(description.schema.distinct_keys) do
    if matches(names) then return true end
  end
  return false
end

--- Returns the columns of a unique key and their values by name, from a table of columns.
local function columns_of_key(verb, description, values)
  local given, columns, named = {}, {}, {}
  for name, value in pairs(values) do
    local position = type(name) == "string" and description.positions[sql_names.fold(name)]
    if not position then
      errors.raise_unknown_column(name, description.table, record_description.column_names(description))
    end
    given[position] = value
  end
  if not is_unique(description, given) then
    raise("argument", ("%s: the given columns are not a unique key of `%s`; its unique keys are: %s; use Class:filter{ column = value }:%s()")
      :format(verb, description.table, list_keys(description), verb == "delete_one" and "delete_all" or verb))
  end
  for position, column in ipairs(description.columns) do
    if given[position] ~= nil then
      columns[#columns + 1] = column.name
      named[column.name] = given[position]
    end
  end
  return columns, named
end

--- Raises unless the columns of a table form a unique key.
function fetching.check_unique(verb, class, db, values) columns_of_key(verb, record_class.description(class, db), values) end

local function plain_key(value)
  return type(value) ~= "table" or getmetatable(value) ~= nil
end

local operators = { like = true, is = true, ["in"] = true, between = true, glob = true, ["not"] = true }

--- Returns whether text begins like a condition on a column.
local function is_condition(text, positions)
  local name, rest = text:match("^%s*\"?([%a_][%w_]*)\"?%s*(.+)$")
  if not name or not positions[sql_names.fold(name)] then return false end
  local word = rest:match("^%a+")
  return rest:find("^[<>=!]") ~= nil or word ~= nil and operators[word:lower()] == true
end

--- Raises for a key that is apparently SQL, after no row was found for it.
local function check_key(verb, class, db, key)
  if type(key) ~= "string" then return end
  local text = key:lower()
  if text:find("^%s*select%s") or text:find("^%s*with%s.*%sas%s*%(") then
    raise("argument", verb .. ": expected a key, got SQL; use Class:from_sql(sql, ...):fetch_one() to fetch by SQL")
  end
  if is_condition(key, record_class.description(class, db).positions) then
    raise("argument", ("%s: expected a key, got a condition; use Class:filter(sql, ...):%s()"):format(verb, verb))
  end
end

--- Returns the column for a key with one value, which may be the row id.
local function column_of_key(verb, description)
  if #description.key == 1 then return description.key[1] end
  if description.row_id then return description.row_id end
  raise("argument", #description.key == 0 and ("%s: `%s` has no primary key"):format(verb, description.table)
    or ("%s: the key of `%s` has several columns; pass a table with %s"):format(verb, description.table,
      table.concat(description.key, ", ")))
end

local function check_is_key(verb, key)
  if type(key) == "table" and getmetatable(key) == nil and key[1] ~= nil then
    raise("argument", verb .. ": expected a key, got a list; " .. verb .. " takes one key, and filter_key{ 1, 2 } several")
  elseif record_class.info_of(key) then
    raise("argument", verb .. ": expected a key, got a record; use " .. (verb == "exists" and "record:exists()" or "record:refresh() to read its row again"))
  elseif marks.is_expression(key) then
    raise("argument", ("%s: expected a key, got a condition; use Class:filter(condition):%s()"):format(verb,
      verb == "delete_one" and "delete_all" or verb))
  elseif key == true then
    raise("argument", verb .. ": expected a key, got true; use filter{ column = true }:" .. verb .. "()")
  end
  local is_draft = require("perilune.records.writing").is_draft(key)
  if is_draft or type(key) == "function" or type(key) == "thread" then
    raise("argument", verb .. ": expected a key, got " .. (is_draft and "a draft" or errors.describe(key)))
  end
end

--- @param ?wanted the names of lazy fields to fetch too
local function fetch_where(class, db, description, where, arguments, wanted)
  local select, info = description.select, record_class.info(class)
  if wanted then
    select = record_description.select(description.schema, record_description.row_id_key(info, description.schema), wanted)
  end
  return decode_one(info, native_records.fetch_record(db, select .. " WHERE " .. where, class, arguments))
end

local function raise_none(class, db, key)
  local description = record_class.description(class, db)
  if plain_key(key) then record_failures.raise_no_row(description, { key }) end
  local only = #description.key == 1 and description.key[1]
  if only and key[only] ~= nil then record_failures.raise_no_row(description, { key[only] }) end
  local parts = {}
  for name, value in pairs(key) do parts[#parts + 1] = name .. " = " .. record_failures.show(value) end
  table.sort(parts)
  raise("record_not_found", ("no row of `%s` has %s"):format(description.table, table.concat(parts, ", ")),
    { table = description.table, key = key })
end

fetching.raise_none = raise_none

--- Returns the result of a verb if no row has a key: nil; `find` raises.
local function missed(verb, class, db, key)
  check_key(verb, class, db, key)
  if verb == "find" then raise_none(class, db, key) end
end

--- Returns the record with a key, which is a value or a table of columns. All lookups by key use this function, with two exceptions: C
-- itself looks up simple keys of one column (Writing/methods.c), and for a class with a scope, a key becomes a condition of a request.
function fetching.fetch_by_key(verb, class, db, key)
  check_is_key(verb, key)
  local description = record_class.description(class, db)
  local columns, values
  -- The key NULL identifies no row. To find a row in which a column is NULL, scripts pass a table with this column.
  if key == null then return missed(verb, class, db, key) end
  if plain_key(key) then
    columns = { column_of_key(verb, description) }
    values = { [columns[1]] = key }
  else
    columns, values = columns_of_key(verb, description, key)
  end
  local where, arguments = record_values.conditions(column_details.of(description), columns, values, true)
  return fetch_where(class, db, description, where, arguments) or missed(verb, class, db, key)
end

--- Continues a lookup after C has found no row for the key.
-- @tparam boolean looks_again whether a row may still exist, with the key in a different form
function fetching.key_missed(verb, class, db, key, looks_again)
  db = db or native_records.default_database()
  return (looks_again and fetching.fetch_by_key or missed)(verb, class, db, key)
end

--- Fetches the row of a record as another record. Raises if the row does not exist.
-- @param ?wanted the names of lazy fields to fetch too
function fetching.fetch_row_of(verb, class, db, target, wanted)
  local description = record_class.description(class, db)
  local details, found = column_details.of(description), nil
  if native_records.knows_row(target) then
    found = fetch_where(class, db, description, record_description.condition(description, description.key), record_values.stored_key(details, target), wanted)
  else
    local where, arguments = record_values.conditions(details, description.key, target)
    found = fetch_where(class, db, description, where, arguments, wanted)
  end
  return found or record_failures.raise_not_found(description, target)
end

--- Returns the function that fetches a record of a class with a scope, given the verb, class, database and key, or nil for any
-- record.
local function scope_of(class)
  for ancestor in record_class.ancestors(record_class.info(class)) do
    if ancestor.fetch_in_scope then return ancestor.fetch_in_scope end
  end
end

local function find_one(verb, class, db, key)
  local fetch_in_scope = scope_of(class)
  if not fetch_in_scope then return fetching.fetch_by_key(verb, class, db, key) end
  local found = fetch_in_scope(verb, class, db, key)
  if found == nil then check_key(verb, class, db, key) end
  return found
end

--- Returns the records of a list of keys, in the same order.
local function find_each(class, db, keys)
  local found = {}
  for index = 1, checks.list_length("find", "a list of keys", keys) do found[index] = find_one("find", class, db, keys[index]) end
  return found
end

--- find: one key, a table of columns, or a list of keys, which may be empty.
function fetching.find(class, ...)
  local db, count, key = split(class, "find", ...)
  if count > 1 and native_records.is_database((select(-1, ...))) then arity.refuse_database("find", "Class") end
  if count ~= 1 or key == nil then
    local names, other = record_class.description(class, db).key, count > 1 and select(-1, ...) or nil
    local cure = count == 2 and type(other) == "table" and getmetatable(other) == nil and other[1] == nil
      and "a request for options, as in Class:including_all(Class.association):find(key)" or #names > 1 and "find{ " .. table.concat(names, " = ..., ") .. " = ... } for a key"
      or "find{ 1, 2 } for several keys, filter{ column = value }:find() for other columns"
    raise("argument", "find: expected a key, got " .. (count > 1 and count .. " arguments; use " .. cure or errors.describe(key)))
  end
  if plain_key(key) or not is_list(key) then return find_one("find", class, db, key) end
  return native_records.with_access(db, "read", find_each, class, db, key)
end

--- fetch_one: the first record of the table or of a prepared statement, or the record with a key; nil if none exists.
function fetching.fetch_one(class, ...)
  local db, count, key = split(class, "fetch_one", ...)
  local info = record_class.info(class)
  if count == 0 then
    local fetch_in_scope = scope_of(class)
    if fetch_in_scope then return fetch_in_scope("fetch_one", class, db) end
    return decode_one(info, native_records.fetch_record(db, record_class.description(class, db).select, class))
  end
  if key == nil and count == 1 then return nil end
  if native_records.is_statement(key) then
    return decode_one(info, native_records.fetch_statement_record(key, class, select(native_records.is_database((...)) and 3 or 2, ...)))
  end
  -- Nothing may follow a key. SQL without arguments is not accepted, because it could be a key that a user has typed.
  if count > 1 and type(key) == "string" then
    check_is_statement("fetch_one", key)
    return decode_one(info, native_records.fetch_record(db, key, class, select(native_records.is_database((...)) and 3 or 2, ...)))
  end
  if count > 1 and native_records.is_database((select(-1, ...))) then arity.refuse_database("fetch_one", "Class") end
  if count > 1 then raise("argument", "fetch_one: expected a key, or SQL with its arguments, got " .. count .. " arguments") end
  return find_one("fetch_one", class, db, key)
end

verbs.find, verbs.fetch_one = native_records.class_find, native_records.class_fetch_one

--- exists: whether fetch_one finds a record. C does not handle scopes.
function fetching.exists(class, ...)
  if scope_of(class) then return fetching.fetch_one(class, ...) ~= nil end
  local db, count, key = split(class, "exists", ...)
  if count > 1 and native_records.is_database((select(-1, ...))) then arity.refuse_database("exists", "Class") end
  if count == 1 and (type(key) == "table" or type(key) == "string") then return find_one("exists", class, db, key) ~= nil end
  return verbs.fetch_one(class, ...) ~= nil
end

-- Creating records from rows and records

--- Returns the values of a row by name, for fields: BLOBs stay blobs in fields that keep them.
local function values_of_row(description, row, names)
  if not native_rows.blobs(row) then return row end
  local values = {}
  for index, name in ipairs(names) do
    local position = description.positions[record_description.fold(name)]
    local keeps_blobs = position and description.columns[position].keeps_blobs
    values[name] = keeps_blobs and stored_values.of_row(row, index) or row[name]
  end
  return values
end

--- Creates a record from a row. All columns of the row become fields, even if the table has no such columns.
local function from_row(info, row)
  if type(row) ~= "table" then
    raise("argument", ("%s:from_row: expected a row, got %s"):format(info.name, errors.describe(row)))
  end
  local names = native_records.is_row(row) and native_rows.columns(row) or {}
  if not native_records.is_row(row) then
    for name in next, row do
      if type(name) ~= "string" then
        raise("argument", ("%s:from_row: expected names of columns, got %s"):format(info.name, errors.describe(name)))
      end
      names[#names + 1] = name
    end
    table.sort(names)
  end
  local description, layout = record_class.description(info.class)
  if native_records.is_row(row) then row = values_of_row(description, row, names) end
  return decode_one(info, native_records.record_from(layout, names, row))
end

-- Called with a dot, so each class has its own function.
record_class.on_creation(function(info)
  rawset(info.lookup, "from_row", function(...)
    local row, surplus = ...
    if row == info.class then row, surplus = select(2, ...) end
    if surplus ~= nil then require("perilune.runtime.arity").refuse("from_row", 1, surplus) end
    return from_row(info, row)
  end)
end)

--- Returns another record with the same values. Tables that represent stored values are not shared.
-- @tparam ?table changes fields that are assigned to the copy
local function copy_record(self, changes, surplus)
  record_class.require_record("copy", self)
  if surplus ~= nil then arity.refuse("copy", 1, surplus) end
  if changes ~= nil and (type(changes) ~= "table" or getmetatable(changes) ~= nil) then
    raise("argument", "copy: argument 1: expected a table of columns, got " .. errors.describe(changes))
  end
  local copy = native_records.copy_record(self)
  local details = column_details.of_record(copy)
  for column in pairs(details.converters) do
    local value = rawget(copy, column)
    if type(value) == "table" then rawset(copy, column, record_values.copy(details, column, value)) end
  end
  if changes then record_class.set_fields(copy, changes) end
  return copy
end

record_class.add_class_verbs(verbs)
record_class.add_instance_verbs{ copy = copy_record }

return fetching
