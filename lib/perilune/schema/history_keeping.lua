--- Installs the history of a table and keeps it up to date when the table's columns or name change.
--
-- Recorded versions are kept: a column dropped from the table stays in the history, a renamed one is renamed there, and a new one
-- is added. Rows whose values changed get a new version.

local native_schema = require "perilune.native.schema"
local native_sql = require "perilune.native.sql"
local checks = require "perilune.runtime.checks"
local sql_names = require "perilune.runtime.names"
local sql_text = require "perilune.runtime.sql_text"
local history_tables = require "perilune.schema.history_tables"
local history_versions = require "perilune.schema.history_versions"
local table_rebuild = require "perilune.schema.table_rebuild"
local table_text = require "perilune.schema.table_text"

local history_keeping = {}

-- Requirements for tables with a history
-- --------------------------------------------------------------------------------------------

--- Raises if rows may lack a key, because a history identifies rows by their keys.
local function check_key(schema, place)
  if #schema.primary_key.columns == 0 then
    checks.refuse(place, "table `" .. schema.name .. "` has no primary key, by which a history tells its rows apart")
  end
  for _, column in ipairs(schema.columns) do
    if column.primary_key and not column.not_null and not schema.primary_key.rowid then
      checks.refuse(place, ("the key column `%s` of `%s` may be NULL, and a history cannot distinguish rows without a key; "
        .. "use t:change_column(\"%s\"):not_null() in db:alter_table first"):format(column.name, schema.name, column.name))
    end
  end
end

--- Returns the current schema of a table; raises if the table cannot have a history.
local function schema_of(db, name, place)
  local schema = native_schema.table(db, name)
  if schema.kind ~= "table" then checks.refuse(place, "`" .. name .. "` is a " .. schema.kind .. " table or view, which cannot have a history") end
  if schema.database ~= "main" then checks.refuse(place, "`" .. name .. "` is not in the main database, and only tables of that have histories") end
  check_key(schema, place)
  for _, column in ipairs(schema.columns) do
    for _, own in ipairs(history_tables.own_columns) do
      if sql_names.same(own, column.name) then checks.refuse(place, "the column `" .. column.name .. "` has a name that histories use") end
    end
  end
  return schema
end

history_keeping.schema_of = schema_of

-- Existing histories
-- -------------------------------------------------------------------------------------------------------------------

--- Returns the columns of a table by their folded names.
local function columns_of(db, name)
  local columns = {}
  for _, column in ipairs(native_schema.table(db, name).columns) do columns[sql_names.fold(column.name)] = column end
  return columns
end

--- Returns the folded columns of the key by which a history has identified rows so far; nil if its index is gone.
local function former_key(db, history)
  for _, index in ipairs(db:indexes(history)) do
    if sql_names.same(index.name, history .. "_by_key") then return sql_names.fold(table.concat(index.columns, "\0")) end
  end
end

--- Raises if the versions of a history are identified by a different key than the table's current one.
local function check_same_key(db, history, schema, place)
  local former, known = former_key(db, history), columns_of(db, history)
  local is_same = former == nil or former == sql_names.fold(table.concat(schema.primary_key.columns, "\0"))
  for _, column in ipairs(schema.columns) do
    local recorded = known[sql_names.fold(column.name)]
    if column.primary_key and recorded then
      is_same = is_same and column.collation == recorded.collation and column.affinity == recorded.affinity
    end
  end
  if not is_same then
    checks.refuse(place, ("the history `%s` identifies rows by the previous primary key of `%s`; remove it first by "
      .. "perilune.history(Class):remove(db), or keep its versions by { keep_versions = true }, and rename it by db:rename_table(\"%s\", ...)")
      :format(history, schema.name, history))
  end
end

local function rename_history(db, history, name, run, place)
  if db:table_exists(name) or db:view_exists(name) then
    checks.refuse(place, ("`%s` cannot be the history of the table under its new name: it exists; rename or drop it first"):format(name))
  end
  run(("ALTER TABLE %s RENAME TO %s"):format(sql_text.name(history), sql_text.name(name)))
  -- Indexes cannot be renamed, so they are dropped here and created again later.
  for _, ending in ipairs{ "_by_key", "_by_transaction" } do run("DROP INDEX IF EXISTS " .. sql_text.name(history .. ending)) end
end

--- Renames columns of the history that were renamed in its table.
local function rename_columns(db, history, renames, run, place)
  for _, rename in ipairs(renames) do
    local known = columns_of(db, history)
    if known[sql_names.fold(rename.to)] and not sql_names.same(rename.from, rename.to) then
      checks.refuse(place, ("the history `%s` has a column `%s` already, of one that was dropped; rename that first by "
        .. "db:alter_table(\"%s\", function(t) t:rename_column(\"%s\", ...) end)"):format(history, rename.to, history, rename.to))
    end
    if known[sql_names.fold(rename.from)] then
      run(("ALTER TABLE %s RENAME COLUMN %s TO %s"):format(sql_text.name(history), sql_text.name(rename.from), sql_text.name(rename.to)))
    end
  end
end

--- Removes the types of history columns whose affinity no longer equals that in the table, because it would change values.
local function remove_types(db, schema, run, place)
  local history, known, edits = history_tables.name_of(schema.name), nil, {}
  known = columns_of(db, history)
  for _, column in ipairs(schema.columns) do
    local recorded = known[sql_names.fold(column.name)]
    if recorded.affinity ~= column.affinity and recorded.affinity ~= "blob" then
      edits[#edits + 1] = function(text) table_text.set_type(text:column(recorded.name), nil) end
    end
  end
  if edits[1] then table_rebuild.run(db, history, edits, { run = run, place = place }) end
end

--- Converts a history made by an earlier version, which has times as text, to the current format.
local function convert_times(db, history, run, place)
  if columns_of(db, history).history_day then return end
  local function edit(text)
    local column = text:column("history_time")
    text:rename_column("history_time", "history_day")
    table_text.set_type(column, "REAL")
    column.using = "julianday(history_time)"
  end
  table_rebuild.run(db, history, { edit }, { run = run, place = place })
end

local function add_columns(db, schema, run, place)
  local unknown = {}
  for _, name in ipairs(history_versions.unknown_columns(db, schema)) do unknown[name] = true end
  for _, column in ipairs(schema.columns) do
    if unknown[column.name] then run(history_versions.addition(schema, column)) end
  end
  remove_types(db, schema, run, place)
end

--- Adapts the history and its triggers to the current columns of the table, and adds a version of each row that differs from its last one.
-- The triggers must have been dropped.
local function bring_up_to_date(db, name, renames, run, place)
  local schema = schema_of(db, name, place)
  local history = history_tables.name_of(schema.name)
  if history_tables.is_history(db, history) then
    rename_columns(db, history, renames, run, place)
    check_same_key(db, history, schema, place)
    convert_times(db, history, run, place)
    add_columns(db, schema, run, place)
  elseif db:table_exists(history) or db:view_exists(history) then
    checks.refuse(place, ("`%s` already exists, and the history of `%s` needs this name; rename or drop it first"):format(history, schema.name))
  else
    run(history_versions.creation(schema))
  end
  for _, index in ipairs(history_versions.indexes(schema)) do
    if not db:index_exists(index.name) then run(index.sql) end
  end
  for _, sql in ipairs(history_versions.completion(schema)) do run(sql) end
  for _, sql in ipairs(history_versions.trigger_creations(schema)) do run(sql) end
end

--- Returns the columns whose names in the history differ from those in its table. When a column of the table is renamed by SQL, SQLite also
-- renames it in the trigger. Therefore the text of the trigger shows which history column belongs to which table column.
-- @tparam string sql the text of the trigger
local function renames_in(sql)
  local tokens, targets, sources, renames = {}, {}, {}, {}
  for _, token in ipairs(native_sql.tokens(sql)) do
    if token.kind ~= "blank" then tokens[#tokens + 1] = token end
  end
  local is_in_list = false
  for position, token in ipairs(tokens) do
    local former = tokens[position - 1]
    if token.text == "(" and not targets[1] then is_in_list = true end
    if token.text == ")" then is_in_list = false end
    if is_in_list and token.name then targets[#targets + 1] = token.name end
    if former and former.text == "." and sql_names.same(tokens[position - 2].text, "new") then sources[#sources + 1] = table_text.name_of(token) end
  end
  local offset = #targets - #sources
  for index, source in ipairs(sources) do
    local target = targets[index + offset]
    if not sql_names.same(source, target) then renames[#renames + 1] = { from = target, to = source } end
  end
  return renames
end

-- Interface
-- ----------------------------------------------------------------------------------------------------------------------------

--- Installs the history of a table, or brings it up to date, in a transaction of the caller.
function history_keeping.install(db, name, place)
  local function run(sql) return db:execute(sql) end
  schema_of(db, name, place)
  run(history_versions.transactions_sql)
  local following = history_keeping.begin(db, name, run) or { db = db, run = run, renames = {} }
  -- If SQL dropped the history, its triggers are still there.
  for _, sql in ipairs(history_versions.trigger_drops(history_tables.name_of(name))) do run(sql) end
  history_keeping.finish(following, name, place)
end

--- Drops the triggers of a table that has a history, so that the schema can be changed.
-- @tparam function run executes a statement
-- @treturn ?table the argument for `finish`; nil if the table has no history
function history_keeping.begin(db, name, run)
  local history, trigger = history_tables.find(db, name)
  if not history then return nil end
  for _, sql in ipairs(history_versions.trigger_drops(history)) do run(sql) end
  return { db = db, run = run, history = history, renames = renames_in(trigger) }
end

--- Updates the history after a change of its table, and makes its triggers again.
-- @tparam ?{{from=string,to=string},...} renames the renamed columns, in order
function history_keeping.finish(following, name, place, renames)
  local db, run, history = following.db, following.run, following.history
  local new_name = history_tables.name_of(native_schema.table(db, name).name)
  if history and not sql_names.same(history, new_name) then rename_history(db, history, new_name, run, place) end
  local all = table.move(renames or {}, 1, #(renames or {}), #following.renames + 1, following.renames)
  bring_up_to_date(db, name, all, run, place)
end

return history_keeping
