--- Rebuilds a table, for changes that SQLite's ALTER TABLE cannot make: a new table with the same rows replaces the old one.
--
-- The steps follow SQLite's documentation ("Making Other Kinds Of Table Schema Changes"), except that `databases.unenforced`
-- turns foreign keys off around them. See https://www.sqlite.org/lang_altertable.html#otheralter

local native_sql = require "perilune.native.sql"
local native_schema = require "perilune.native.schema"
local errors = require "perilune.native.errors"
local checks = require "perilune.runtime.checks"
local sql_text = require "perilune.runtime.sql_text"
local sql_names = require "perilune.runtime.names"
local foreign_key_checks = require "perilune.schema.foreign_key_checks"
local table_text = require "perilune.schema.table_text"

local table_rebuild = {}

-- Dependents of the table

local function schema_rows(db, schema, condition, ...)
  return db:fetch_all(("SELECT type, name, tbl_name, sql, ? AS schema FROM %s.sqlite_schema WHERE sql IS NOT NULL AND %s ORDER BY rowid")
    :format(sql_text.name(schema), condition), schema, ...)
end

--- Returns whether an SQL text names something in the list.
local function names_any(sql, wanted)
  for _, token in ipairs(native_sql.tokens(sql)) do
    local name = table_text.name_of(token)
    if name and wanted[sql_names.fold(name)] then return true end
  end
  return false
end

--- Returns the views and triggers that name the table, directly or through a view. They are dropped and created again, because SQLite
-- checks all views and triggers when a table is renamed.
local function dependents_of(db, schema, name)
  local objects = schema_rows(db, schema, "type IN ('view', 'trigger')")
  if schema ~= "temp" then
    for _, object in ipairs(schema_rows(db, "temp", "type IN ('view', 'trigger')")) do objects[#objects + 1] = object end
  end
  local wanted, found = { [sql_names.fold(name)] = true }, {}
  local has_grown = true
  while has_grown do
    has_grown = false
    for _, object in ipairs(objects) do
      if not found[object] and names_any(object.sql, wanted) then
        found[object], has_grown = true, true
        if object.type == "view" then wanted[sql_names.fold(object.name)] = true end
      end
    end
  end
  local views, triggers = {}, {}
  for _, object in ipairs(objects) do
    if found[object] then table.insert(object.type == "view" and views or triggers, object) end
  end
  return views, triggers
end

-- Checks for lost values

--- For each affinity, the SQL condition for values that a column with this affinity would change. NUMERIC affinity converts text that looks
-- like a number. This changes the text unless it is written exactly as SQLite writes the number.
local losses = {
  text = "typeof($) = 'real' AND CAST(CAST($ AS TEXT) AS REAL) <> $",
  numeric = "typeof($) = 'text' AND CAST(CAST($ AS NUMERIC) AS TEXT) <> $ COLLATE BINARY AND CAST($ AS NUMERIC) = +$",
  real = "typeof($) = 'integer' AND CAST(CAST($ AS REAL) AS INTEGER) <> $",
}
losses.integer = losses.numeric
losses.real = "(" .. losses.numeric .. ") OR (" .. losses.real .. ")"

local function loss_condition(value, affinity)
  local condition = losses[affinity]
  return condition and (condition:gsub("%$", (value:gsub("%%", "%%%%"))))
end

--- Raises if a column's values would change when they are converted to its new type.
-- @tparam string affinity the affinity of the new column
local function check_values(rebuild, column, affinity)
  if affinity == rebuild.columns[sql_names.fold(column.origin)].affinity then return end
  local condition = loss_condition(sql_text.name(column.origin), affinity)
  if not condition then return end
  local count = rebuild.db:fetch_value(("SELECT COUNT(*) FROM %s WHERE %s"):format(rebuild.old, condition))
  if count > 0 then
    checks.refuse(rebuild.place, ("the type %s would change the values of `%s` in %d row%s; add `:using(...)` to convert them"):format(
      column.declared or "none", column.name, count, count == 1 and "" or "s"))
  end
end

--- Raises if a column that becomes the row id contains NULL, which SQLite would replace with a number.
local function check_new_key(rebuild, column, source)
  local null_count = rebuild.db:fetch_value(("SELECT COUNT(*) FROM %s WHERE (%s) IS NULL"):format(rebuild.old, source))
  if null_count > 0 then
    checks.refuse(rebuild.place, ("%d row%s NULL in `%s`, the new primary key"):format(
      null_count, null_count == 1 and " has" or "s have", column.name))
  end
end

-- The steps

--- Runs a statement. In its errors, the name of the new table is replaced with the name of the table that it will replace.
local function run(rebuild, sql)
  local is_done, result = pcall(rebuild.run, sql)
  if is_done then return result end
  local is_about_new = rebuild.new_name and type(result) == "userdata" and result.message:find(rebuild.new_name, 1, true)
  if is_about_new then
    local pattern = rebuild.new_name:gsub("%p", "%%%0")
    local name = rebuild.name:gsub("%%", "%%%%")
    errors.add_fields(result, { message = (result.message:gsub(pattern, name)) })
  end
  error(result, 0)
end

--- Returns an unused name for the new table.
local function free_name(rebuild)
  local name = "perilune_new_" .. rebuild.name
  while rebuild.db:table_exists(name) or rebuild.db:view_exists(name) do name = name .. "_" end
  return name
end

--- Returns the SQL name of the old table's row id, nil if it has none.
local function row_id_of(schema)
  local name = schema.primary_key.rowid and schema.primary_key.columns[1] or schema.row_id_names[1]
  return name and sql_text.name(name)
end

--- Returns the SQL for the values of a column in the new table, nil to use its default.
local function source_of(rebuild, column, affinity)
  local is_key = column == rebuild.text:row_id_column()
  local row_id = row_id_of(rebuild.schema)
  local source = column.using or column.origin and sql_text.name(column.origin) or is_key and row_id
  if not source or table_text.clause(column, "generated_as") then return nil end
  if is_key and source ~= row_id then check_new_key(rebuild, column, source) end
  if column.origin and not column.using then check_values(rebuild, column, affinity) end
  return source
end

--- Returns the columns to write, and the SQL of their values. Rows keep their row id even if no column contains it.
local function copied(rebuild, new_schema)
  local targets, sources = {}, {}
  local function add(target, source)
    targets[#targets + 1], sources[#sources + 1] = target, source
  end
  local row_id = row_id_of(rebuild.schema)
  if row_id and not new_schema.primary_key.rowid and new_schema.row_id_names[1] then add(new_schema.row_id_names[1], row_id) end
  for index, column in ipairs(rebuild.text.columns) do
    local source = source_of(rebuild, column, new_schema.columns[index].affinity)
    if source then add(sql_text.name(column.name), source) end
  end
  return targets, sources
end

--- Keeps the highest key that SQLite has ever assigned, since the new table knows only the keys of existing rows.
local function keep_sequence(rebuild, new_name)
  local has_sequences = rebuild.db:fetch_value(
    ("SELECT COUNT(*) FROM %s.sqlite_schema WHERE name = 'sqlite_sequence'"):format(sql_text.name(rebuild.schema_name))) > 0
  if not has_sequences then return end
  local sequences = sql_text.name(rebuild.schema_name) .. ".sqlite_sequence"
  local last = rebuild.db:fetch_value("SELECT seq FROM " .. sequences .. " WHERE name = ?", rebuild.name)
  local is_kept = last and rebuild.text:is_auto_incremented()
  if not is_kept then return end
  run(rebuild, ("DELETE FROM %s WHERE name = %s"):format(sequences, sql_text.literal(new_name)))
  run(rebuild, ("INSERT INTO %s (name, seq) VALUES (%s, %d)"):format(sequences, sql_text.literal(new_name), last))
end

--- Returns the message of an SQL error about text that SQLite cannot use. Raises any other error again.
local function reason_of(err)
  if type(err) == "string" or err.kind ~= "sql" then error(err, 0) end
  return err.message
end

--- Runs the statement of an object that depends on the table. Raises an error that names the object if it no longer fits the table.
local function make_again(rebuild, object)
  local is_made, err = pcall(run, rebuild, table_text.qualify(object.sql, object.schema))
  if is_made then return end
  checks.refuse(rebuild.place, ("the %s `%s` does not fit the changed table: %s; drop it first"):format(
    object.type, object.name, reason_of(err)))
end

--- Raises if an object names a dropped column in double quotes, because SQLite would read the name as text.
local function check_quoted_names(rebuild, objects)
  for _, name in ipairs(rebuild.removed) do
    for _, object in ipairs(objects) do
      for _, token in ipairs(native_sql.tokens(object.sql)) do
        if token.kind == "name" and token.text:sub(1, 1) == '"' and sql_names.same(token.name, name) then
          checks.refuse(rebuild.place, ("the %s `%s` names the column `%s`, which is dropped; drop it first"):format(object.type, object.name, name))
        end
      end
    end
  end
end

--- Makes SQLite check that all views and triggers are still valid, which it does when any table is renamed.
local function check_schema(rebuild)
  local scratch = free_name(rebuild)
  local quoted = table_text.qualified(rebuild.schema_name, scratch)
  run(rebuild, "CREATE TABLE " .. quoted .. " (a)")
  local is_good, err = pcall(run, rebuild, "ALTER TABLE " .. quoted .. " RENAME TO " .. sql_text.name(scratch .. "_"))
  if not is_good then checks.refuse(rebuild.place, reason_of(err) .. "; drop or change it first") end
  run(rebuild, "DROP TABLE " .. table_text.qualified(rebuild.schema_name, scratch .. "_"))
end

local statistics_columns = { sqlite_stat1 = { "tbl", "idx", "stat" }, sqlite_stat4 = { "tbl", "idx", "neq", "nlt", "ndlt", "sample" } }

--- Returns the statements that restore the table's ANALYZE statistics, which SQLite drops with the table: each with the name of its
-- index, nil for the table itself.
local function statistics_of(rebuild)
  local found = {}
  for name, columns in pairs(statistics_columns) do
    local exists = rebuild.db:fetch_value(
      ("SELECT COUNT(*) FROM %s.sqlite_schema WHERE name = ?"):format(sql_text.name(rebuild.schema_name)), name) > 0
    if exists then
      local quoted, literals = table_text.qualified(rebuild.schema_name, name), {}
      for index, column in ipairs(columns) do literals[index] = "quote(" .. column .. ")" end
      local rows = rebuild.db:fetch_all(("SELECT idx, %s AS literals FROM %s WHERE tbl = ? COLLATE NOCASE"):format(
        table.concat(literals, " || ', ' || "), quoted), rebuild.name)
      for _, row in ipairs(rows) do
        local sql = ("INSERT INTO %s (%s) VALUES (%s)"):format(quoted, table.concat(columns, ", "), row.literals)
        found[#found + 1] = { index = row.idx, sql = sql }
      end
    end
  end
  return found
end

--- Restores the statistics of the table and of the indexes that were created again.
local function keep_statistics(rebuild, statistics, indexes)
  local kept = {}
  for _, index in ipairs(indexes) do kept[sql_names.fold(index.name)] = true end
  for _, figure in ipairs(statistics) do
    if figure.index == nil or kept[sql_names.fold(figure.index)] then run(rebuild, figure.sql) end
  end
end

--- Rebuilds a table with changes. Must be called in a transaction in which foreign keys are not enforced.
-- @tparam string name
-- @tparam {function,...} edits functions that change the text of the table
-- @tparam table options `run`: executes a statement; `is_enforced`: whether to check foreign keys; `place`: the start of messages
function table_rebuild.run(db, name, edits, options)
  local schema = native_schema.table(db, name)
  local rebuild = {
    db = db, run = options.run, place = options.place, name = schema.name, schema_name = schema.database, schema = schema, columns = {},
    old = table_text.qualified(schema.database, schema.name), removed = {},
  }
  for _, column in ipairs(schema.columns) do rebuild.columns[sql_names.fold(column.name)] = column end
  rebuild.text = table_rebuild.read(db, name, options.place)
  for _, edit in ipairs(edits) do edit(rebuild.text) end
  for _, column in ipairs(schema.columns) do
    local is_kept = false
    for _, new in ipairs(rebuild.text.columns) do is_kept = is_kept or new.origin == column.name end
    if not is_kept then rebuild.removed[#rebuild.removed + 1] = column.name end
  end
  local views, triggers = dependents_of(db, rebuild.schema_name, rebuild.name)
  local indexes = schema_rows(db, rebuild.schema_name, "type = 'index' AND lower(tbl_name) = lower(?)", rebuild.name)
  for _, objects in ipairs{ views, triggers, indexes } do check_quoted_names(rebuild, objects) end
  local statistics = statistics_of(rebuild)

  local new_name = free_name(rebuild)
  rebuild.new_name = new_name
  local new = table_text.qualified(rebuild.schema_name, new_name)
  run(rebuild, rebuild.text:sql(new))
  local targets, sources = copied(rebuild, native_schema.table(db, new_name))
  if targets[1] then
    -- ABORT regardless of the conflict clauses of constraints, because no row may be left out.
    run(rebuild, ("INSERT OR ABORT INTO %s (%s) SELECT %s FROM %s"):format(
      new, table.concat(targets, ", "), table.concat(sources, ", "), rebuild.old))
  end
  keep_sequence(rebuild, new_name)
  for _, trigger in ipairs(triggers) do run(rebuild, "DROP TRIGGER " .. table_text.qualified(trigger.schema, trigger.name)) end
  for _, view in ipairs(views) do run(rebuild, "DROP VIEW " .. table_text.qualified(view.schema, view.name)) end
  run(rebuild, "DROP TABLE " .. rebuild.old)
  run(rebuild, "ALTER TABLE " .. new .. " RENAME TO " .. sql_text.name(rebuild.name))
  for _, objects in ipairs{ indexes, views, triggers } do
    for _, object in ipairs(objects) do make_again(rebuild, object) end
  end
  keep_statistics(rebuild, statistics, indexes)
  check_schema(rebuild)
  if options.is_enforced then foreign_key_checks.check(db, rebuild.schema_name, rebuild.name, rebuild.place) end
  -- The rows were written to another table, which nothing observes.
  db:notify_changes(rebuild.name)
end

--- Reads the text of a table. The `origin` of each column is the column itself.
function table_rebuild.read(db, name, place)
  local schema = native_schema.table(db, name)
  if schema.kind ~= "table" then checks.refuse(place, "`" .. name .. "` is a virtual table, which can only be dropped and created again") end
  local sql = db:fetch_value(("SELECT sql FROM %s.sqlite_schema WHERE type = 'table' AND lower(name) = lower(?)"):format(
    sql_text.name(schema.database)), schema.name)
  local text = table_text.read(sql, place)
  for _, column in ipairs(text.columns) do column.origin = column.name end
  return text
end

return table_rebuild
