--- The history of tables: what each row was, when, and in which transaction.
--
--     local history = perilune.history(Book)
--     history:install(db)                                       -- in a migration
--     history:write("prices of May", function(db) ... end)
--     Book:as_of("2026-03-01"):fetch_all()
--     for _, version in ipairs(book:history()) do print(version.time, version.event, version.note) end
--     history:undo(version.transaction)
--
-- Triggers keep it, so that what other programs write is in it. A row of the history has the columns of the table as they became; that of
-- a deletion has them as they were.

local perilune = require "perilune"
local errors = require "perilune.native.errors"
local native_schema = require "perilune.native.schema"
local records = require "perilune.native.records"
local databases = require "perilune.native.databases"
local checks = require "perilune.runtime.checks"
local sql_names = require "perilune.runtime.names"
local sql_text = require "perilune.runtime.sql_text"
local record = require "perilune.records.class"
local fields = require "perilune.records.fields"
local foreign_key_checks = require "perilune.schema.foreign_key_checks"
local history_notes = require "perilune.events.history_notes"

local History = {}
local Histories = checks.class("history", History)

--- What a history has beside the columns of its table.
local own_columns = { "history_version", "history_event", "history_time", "history_transaction" }

-- Names ----------------------------------------------------------------------------------------------------------------------------

local function name_of(table_name) return table_name .. "_history" end

local function trigger_name(table_name, event) return name_of(table_name) .. "_" .. event end

--- The table of a class as it is now, which must be one that can have a history.
local function schema_of(self, db, place)
  local name = record.info(self.class).table
  local schema = native_schema.table(db, name)
  if schema.kind ~= "table" then checks.refuse(place, "`" .. name .. "` is a " .. schema.kind .. " table or view, which cannot have a history") end
  if schema.database ~= "main" then checks.refuse(place, "`" .. name .. "` is not in the main database, whose histories are kept") end
  if #schema.primary_key.columns == 0 then
    checks.refuse(place, "table `" .. name .. "` has no primary key, by which a history tells its rows apart")
  end
  for _, column in ipairs(schema.columns) do
    for _, own in ipairs(own_columns) do
      if sql_names.same(own, column.name) then checks.refuse(place, "the column `" .. column.name .. "` has a name that histories use") end
    end
  end
  return schema
end

local function column_names(schema)
  local names = {}
  for index, column in ipairs(schema.columns) do names[index] = column.name end
  return names
end

--- By which collation a column compares, as SQL behind it: one key is what the table takes for one.
local function collation_of(column)
  local collation = column.collation
  return collation and collation ~= "BINARY" and " COLLATE " .. sql_text.name(collation) or ""
end

--- SQL for each column of the key: `text`, in which its name is put in for each `%s`.
local function key_parts(schema, text, separator)
  local parts = {}
  for _, column in ipairs(schema.columns) do
    local quoted = sql_text.name(column.name)
    if column.primary_key then parts[column.primary_key] = text:format(quoted, quoted) .. collation_of(column) end
  end
  return table.concat(parts, separator)
end

--- SQL for the same key on both sides.
local function same_key(schema, comparison) return key_parts(schema, comparison, " AND ") end

--- The key in GROUP BY or ORDER BY.
local function key_terms(schema) return key_parts(schema, "%s", ", ") end

--- A column of the history, as its table has it.
local function definition_of(column) return sql_text.name(column.name) .. " " .. column.type .. collation_of(column) end

--- The folded names of the columns that the history has.
local function known_columns(db, schema)
  local known = {}
  for _, column in ipairs(db:columns(name_of(schema.name))) do known[sql_names.fold(column.name)] = true end
  return known
end

local function self_of(self, method)
  if getmetatable(self) ~= Histories then
    checks.fail("history:" .. method, "call it with a colon, got " .. errors.describe(self) .. " before the arguments")
  end
  return rawget(self, "history"), "history:" .. method
end

local function require_installed(db, table_name, place)
  if db:table_exists(name_of(table_name)) then return end
  errors.raise("history", place .. ": the history of `" .. table_name .. "` is not installed; use history:install(db) in a migration",
    { table = table_name })
end

-- Installing -----------------------------------------------------------------------------------------------------------------------

local function create_table(db, schema)
  local definitions = {
    "history_version INTEGER PRIMARY KEY", "history_event TEXT NOT NULL", "history_time DATETIME NOT NULL",
    "history_transaction INTEGER REFERENCES perilune_transaction (id)",
  }
  for _, column in ipairs(schema.columns) do definitions[#definitions + 1] = definition_of(column) end
  local name = name_of(schema.name)
  db:execute("CREATE TABLE " .. sql_text.name(name) .. " (" .. table.concat(definitions, ", ") .. ")")
  db:create_index(name .. "_by_key", { on = name, columns = schema.primary_key.columns })
  db:create_index(name .. "_by_transaction", { on = name, columns = { "history_transaction" }, where = "history_transaction IS NOT NULL" })
end

--- Adds the columns that the table has got since.
local function add_columns(db, schema)
  local known = known_columns(db, schema)
  for _, column in ipairs(schema.columns) do
    if not known[sql_names.fold(column.name)] then
      db:execute(("ALTER TABLE %s ADD COLUMN %s"):format(sql_text.name(name_of(schema.name)), definition_of(column)))
    end
  end
end

local now = "strftime('%Y-%m-%d %H:%M:%f', 'now')"

--- The statement that adds a version, of the columns of `source` ("new." or "old."), or one for each row of the table `from`.
local function insertion(schema, event, source, from)
  local names, values = column_names(schema), {}
  for index, name in ipairs(names) do values[index] = source .. sql_text.name(name) end
  local version = ("'%s', %s, %s, %s"):format(event, now, history_notes.current, table.concat(values, ", "))
  -- SQLite runs VALUES without the subroutine that a SELECT is.
  return ("INSERT INTO %s (history_event, history_time, history_transaction, %s) %s"):format(sql_text.name(name_of(schema.name)),
    sql_text.names(names), from and ("SELECT %s FROM %s"):format(version, from) or ("VALUES (%s)"):format(version))
end

local function create_triggers(db, schema)
  local function create(name, event, statements, when)
    db:drop_trigger(trigger_name(schema.name, name), { if_exists = true })
    db:create_trigger(trigger_name(schema.name, name), { on = schema.name, after = event, run = statements, when = when })
  end
  local same = same_key(schema, "new.%s IS old.%s")
  create("insert", "insert", insertion(schema, "insert", "new."))
  create("delete", "delete", insertion(schema, "delete", "old."))
  create("update", "update", insertion(schema, "update", "new."), same)
  -- A row that gets another key is another row.
  create("rename", "update", { insertion(schema, "delete", "old."), insertion(schema, "insert", "new.") }, "NOT (" .. same .. ")")
end

--- Installs the history, or brings it up to date with the columns of the table. Rows that are there are its first versions.
function History.install(self, db)
  local self, place = self_of(self, "install")
  databases.guarded(checks.database(place, db), function(db)
    local schema = schema_of(self, db, place)
    db:execute(history_notes.definition)
    if db:table_exists(name_of(schema.name)) then
      add_columns(db, schema)
    else
      create_table(db, schema)
      db:execute(insertion(schema, "start", "", sql_text.name(schema.name)))
    end
    create_triggers(db, schema)
  end)
end

--- Removes the triggers and the history, or keeps what is in it.
-- @tparam ?table options `keep_versions`
function History.remove(self, db, options)
  local self, place = self_of(self, "remove")
  options = checks.options(place, options, { keep_versions = "boolean" })
  databases.guarded(checks.database(place, db), function(db)
    local name = record.info(self.class).table
    require_installed(db, name, place)
    for _, event in ipairs{ "insert", "delete", "update", "rename" } do db:drop_trigger(trigger_name(name, event), { if_exists = true }) end
    if not options.keep_versions then db:drop_table(name_of(name)) end
  end)
end

function History.is_installed(self, db)
  local self, place = self_of(self, "is_installed")
  return checks.database(place, db):trigger_exists(trigger_name(record.info(self.class).table, "insert"))
end

-- Reading --------------------------------------------------------------------------------------------------------------------------

--- The columns of the table that the history has too: others are as old as the last installation.
local function select_list(db, schema, prefix)
  local known, terms = known_columns(db, schema), {}
  for index, name in ipairs(column_names(schema)) do
    terms[index] = (known[sql_names.fold(name)] and prefix .. sql_text.name(name) or "NULL") .. " AS " .. sql_text.name(name)
  end
  return table.concat(terms, ", ")
end

--- The text of a time, as histories have it.
local function time_text(time, place)
  local is_time, date = pcall(perilune.date, time)
  if not is_time then checks.fail(place, "expected a date, got " .. errors.describe(time)) end
  return date
end

--- The records of a class as they were, to be fetched.
local function as_of(self, class, time, surplus)
  if surplus ~= nil then checks.fail("as_of", "takes one argument, a time") end
  local place = "as_of"
  local db, moment = records.default_database(), time_text(time, place)
  local schema = schema_of(self, db, place)
  require_installed(db, schema.name, place)
  local key, history = key_terms(schema), sql_text.name(name_of(schema.name))
  -- Of the other columns SQLite takes those of the row with the maximum.
  return class:from_sql(("SELECT %s FROM (SELECT *, max(history_version) FROM %s WHERE history_time <= ? GROUP BY %s) "
    .. "WHERE history_event <> 'delete' ORDER BY %s"):format(select_list(db, schema, ""), history, key, key), moment)
end

local function stored_key(self, db, schema, target)
  local info, key = require("perilune.records.info").of_class(self.class, db), {}
  for index, name in ipairs(schema.primary_key.columns) do
    key[index] = require("perilune.records.values").stored(info, target, fields.of_column(info.schema, name))
  end
  return key
end

--- Which columns have changed from one row to the next, in the order of the table.
local function changed_columns(schema, view, before, row)
  local changed = {}
  for _, name in ipairs(column_names(schema)) do
    local old, new = before and before[name], row[name]
    if old ~= new then changed[#changed + 1] = fields.of_column(view, name) end
  end
  return changed
end

--- The versions of the row of a record, the oldest first.
local function versions_of(self, target, db)
  local place = "history"
  db = checks.database(place, db)
  local schema = schema_of(self, db, place)
  require_installed(db, schema.name, place)
  local columns, key = select_list(db, schema, "h."), stored_key(self, db, schema, target)
  local source = (" FROM %s AS h LEFT JOIN perilune_transaction AS t ON t.id = h.history_transaction WHERE %s ORDER BY h.history_version"):format(
    sql_text.name(name_of(schema.name)), same_key(schema, "h.%s IS ?"))
  local rows = db:fetch_all("SELECT h.history_version, h.history_event, h.history_time, h.history_transaction, t.note AS history_note, "
    .. columns .. source, key)
  local found = self.class:fetch_all(db, "SELECT " .. columns .. source, table.unpack(key))
  local versions, before, view = {}, nil, fields.view(record.info(self.class), schema)
  for index, row in ipairs(rows) do
    local event = row.history_event
    versions[index] = {
      version = row.history_version, event = event, time = row:date("history_time"), transaction = row.history_transaction, note = row.history_note,
      record = event ~= "delete" and found[index] or nil, changed = event == "update" and changed_columns(schema, view, before, row) or {},
    }
    before = row
  end
  return versions
end

--- `db:write` of a transaction that has a note: `history:write("prices of May", function(db) ... end)`.
-- @tparam ?database db
-- @tparam string note
-- @tparam function block
-- @param ... further arguments of the block
-- @return what the block returns
function History.write(self, first, ...)
  local self, place = self_of(self, "write")
  if not records.is_database(first) then return History.write(perilune.history(self.class), records.default_database(), first, ...) end
  local note, block = ...
  if type(note) ~= "string" then checks.fail(place, "expected a note as a string, got " .. errors.describe(note)) end
  checks.block(place, block)
  local function check(db) require_installed(db, record.info(self.class).table, place) end
  return history_notes.write_noted(first, place, note, check, block, select(3, ...))
end

--- The transactions that have a note, the newest first.
-- @tparam ?integer limit how many at most, 20 by default
function History.transactions(self, limit, db)
  local self, place = self_of(self, "transactions")
  db = checks.database(place, db)
  if limit ~= nil and (math.type(limit) ~= "integer" or limit < 1) then
    checks.fail(place, "expected an integer of at least 1, got " .. errors.describe(limit))
  end
  require_installed(db, record.info(self.class).table, place)
  local list = {}
  for index, row in ipairs(db:fetch_all("SELECT id, note, began_at FROM perilune_transaction ORDER BY id DESC LIMIT ?", limit or 20)) do
    list[index] = { id = row.id, note = row.note, time = row:date("began_at") }
  end
  return list
end

-- Undoing --------------------------------------------------------------------------------------------------------------------------

--- The tables with a history that can be undone, by name.
local function histories_in(db)
  local tables = {}
  for _, name in ipairs(db:tables()) do
    if db:trigger_exists(trigger_name(name, "insert")) and db:table_exists(name_of(name)) then tables[#tables + 1] = native_schema.table(db, name) end
  end
  return tables
end

--- The first and the last version of each row that a transaction has changed, and the one before it, nil if there was none.
local function changes_of(db, schema, transaction)
  local history, same_row = sql_text.name(name_of(schema.name)), same_key(schema, "h.%s IS c.%s")
  local key, terms = sql_text.names(schema.primary_key.columns), key_terms(schema)
  return db:fetch_all(([[
    SELECT c.first, c.last,
      (SELECT max(h.history_version) FROM %s AS h WHERE %s AND h.history_version < c.first) AS before,
      (SELECT count(*) FROM %s AS h WHERE %s AND h.history_version > c.last) AS later
    FROM (SELECT min(history_version) AS first, max(history_version) AS last, %s FROM %s WHERE history_transaction = ? GROUP BY %s) AS c
    ORDER BY c.first DESC]]):format(history, same_row, history, same_row, key, history, terms), transaction)
end

--- Makes a row what it was in a version; without one, or where that is a deletion, the row is deleted.
local function restore(db, schema, change)
  local target, history = sql_text.name(schema.name), sql_text.name(name_of(schema.name))
  local key = sql_text.names(schema.primary_key.columns)
  local is_row = ("(%s) = (SELECT %s FROM %s WHERE history_version = %d)"):format(key, key, history, change.first)
  local event = change.before and db:fetch_value("SELECT history_event FROM " .. history .. " WHERE history_version = ?", change.before) or "delete"
  if event == "delete" then return db:execute(("DELETE FROM %s WHERE %s"):format(target, is_row)) end
  local names = {}
  for _, column in ipairs(schema.columns) do
    if not column.generated then names[#names + 1] = column.name end
  end
  local columns = sql_text.names(names)
  local former = ("SELECT %s FROM %s WHERE history_version = %d"):format(columns, history, change.before)
  if db:fetch_value(("SELECT EXISTS (SELECT 1 FROM %s WHERE %s)"):format(target, is_row)) == 1 then
    db:execute(("UPDATE %s SET (%s) = (%s) WHERE %s"):format(target, columns, former, is_row))
  else
    db:execute(("INSERT INTO %s (%s) %s"):format(target, columns, former))
  end
end

--- The changes of a transaction, which nothing has changed since, in all tables: a list of a table and its changes.
local function changes_in_tables(db, transaction, place)
  local list = {}
  for _, schema in ipairs(histories_in(db)) do
    local changes = changes_of(db, schema, transaction)
    for _, change in ipairs(changes) do
      if change.later > 0 then
        errors.raise("history", ("%s: a row of `%s` that transaction %d changed has been changed since; undo the later changes first"):format(
          place, schema.name, transaction), { table = schema.name })
      end
    end
    if #changes > 0 then list[#list + 1] = { schema = schema, changes = changes } end
  end
  return list
end

--- Restores what a transaction has changed. Returns how many rows that were.
local function undo_tables(db, transaction, is_enforced, place)
  local count, tables = 0, changes_in_tables(db, transaction, place)
  for _, changed in ipairs(tables) do
    for _, change in ipairs(changed.changes) do restore(db, changed.schema, change) end
    count = count + #changed.changes
  end
  if is_enforced then
    for _, changed in ipairs(tables) do foreign_key_checks.check(db, changed.schema.database, changed.schema.name, place) end
  end
  return count
end

--- Makes the rows that a transaction has changed what they were before, in all tables with a history, in a transaction of its own.
-- @tparam integer transaction its id
-- @treturn integer how many rows were restored
function History.undo(self, transaction, db)
  local self, place = self_of(self, "undo")
  if math.type(transaction) ~= "integer" then checks.fail(place, "expected the id of a transaction, got " .. errors.describe(transaction)) end
  -- No foreign key may change rows on its own meanwhile, which others have written.
  return databases.unenforced(checks.database(place, db), function(db, is_enforced)
    require_installed(db, record.info(self.class).table, place)
    if not db:fetch_value("SELECT 1 FROM perilune_transaction WHERE id = ?", transaction) then
      errors.raise("history", place .. ": no transaction has the id " .. transaction)
    end
    return history_notes.run(db, "undo of transaction " .. transaction, undo_tables, transaction, is_enforced, place)
  end)
end

-- Classes --------------------------------------------------------------------------------------------------------------------------

local made = setmetatable({}, { __mode = "k" })

--- The history of the table of a class, which gets the methods `as_of` and, of its records, `history`.
function perilune.history(class, surplus)
  local info = class ~= nil and record.info(class)
  if not info then checks.fail("perilune.history: argument 1", "expected a record class, got " .. errors.describe(class)) end
  if surplus ~= nil then checks.fail("perilune.history", "takes one argument, a record class") end
  if made[class] then return made[class] end
  local self = { class = class }
  class.as_of = function(of, ...) return as_of(self, of, ...) end
  class.history = function(target, db) return versions_of(self, target, db) end
  made[class] = setmetatable({ history = self }, Histories)
  return made[class]
end

return History
