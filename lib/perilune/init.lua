--- The table `perilune`: loads some modules with every state, and the others when they are first used.

--- The module `perilune`, to which modules that are loaded later add.
local perilune = ...
local databases = require "perilune.native.databases"
local native_rows = require "perilune.native.rows"

local on_first_call = require "perilune.runtime.loading"

--- The prefix of the functions' names in messages.
local module = "perilune."

-- The methods of rows are found through the table that the row path made.
perilune.row = native_rows.methods
on_first_call(native_rows.methods, "perilune.runtime.row", {
  "new", "has", "get", "require", "boolean", "integer", "float", "string", "date", "date_components", "julian_date", "storage_class",
  "with_blob", "columns", "values", "unpack", "pairs", "to_table", "copy",
}, "row:")
if native_rows.set_missing then native_rows.set_missing(function(...) return require("perilune.runtime.missing_columns")(...) end) end
on_first_call(perilune, "perilune.runtime.types", { "value_type", "storage_class" }, module)
on_first_call(databases.methods, "perilune.schema.introspection", {
  "tables", "views", "triggers", "table_exists", "view_exists", "index_exists", "trigger_exists", "columns", "primary_key", "indexes",
  "has_unique_key", "foreign_keys", "foreign_key_violations", "schema_sql", "explain", "fetch_value_as", "fetch_values_as",
})
on_first_call(databases.methods, "perilune.runtime.functions", {
  "add_function", "add_aggregate", "add_collation", "remove_function", "remove_collation",
})
local arity = require "perilune.runtime.arity"
arity.limit_functions(perilune, module, { blob = 1 })
arity.limit(databases.methods, "db:", {
  path = 0, interrupt = 0, serialize = 0, snapshot = 0, has_snapshots = 0, checkpoint = 1, transaction_date = 0, is_inside_transaction = 0, prepare = 1,
})
on_first_call(databases.methods, "perilune.schema.table_creation", { "create_table", "drop_table" })
on_first_call(databases.methods, "perilune.schema.indexes", { "create_index", "drop_index" })
on_first_call(databases.methods, "perilune.schema.view_creation", { "create_view", "drop_view" })
on_first_call(databases.methods, "perilune.schema.trigger_creation", { "create_trigger", "drop_trigger" })
on_first_call(databases.methods, "perilune.schema.table_alteration", { "alter_table", "rename_table" })
on_first_call(perilune, { "perilune.record_assembly", "perilune.request_assembly", "perilune.events.history" }, { "history" }, module)
databases.set_write_options(function(...) return require("perilune.events.write_options")(...) end)
on_first_call(databases.methods, "perilune.schema.full_text", { "create_fts5", "drop_fts5_synchronization" })
on_first_call(databases.methods, "perilune.databases.open_blobs", { "open_blob" })
on_first_call(databases.methods, "perilune.databases.changesets", { "record_changes", "apply_changes" })
on_first_call(perilune, "perilune.databases.changesets", { "changeset" }, module)
on_first_call(perilune, "perilune.runtime.vectors", { "vector", "vector_numbers" }, module)
on_first_call(databases.methods, "perilune.databases.snapshots", { "write_then_read" })
on_first_call(databases.methods, "perilune.databases.backups", { "backup_to" })
on_first_call(perilune, "perilune.databases.clusters", { "cluster" }, module)
on_first_call(databases.methods, "perilune.databases.clusters", { "cluster_nodes" })
on_first_call(databases.methods, "perilune.events.value_observation", {
  "observe", "observe_region", "share_observation", "notify_changes",
})
on_first_call(databases.methods, "perilune.events.transaction_observers", { "observe_transactions", "after_next_transaction" })
on_first_call(perilune, "perilune.schema.full_text_pattern", { "fts5_pattern" }, module)
on_first_call(perilune, "perilune.migrations.migrator", { "migrator" }, module)
on_first_call(perilune, "perilune.expressions.expression", { "sql", "column", "value", "parameter", "count", "case", "exists" }, module)
on_first_call(perilune, { "perilune.expressions.expression", "perilune.expressions.windows" }, {
  "row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile",
}, module)
on_first_call(perilune, { "perilune.record_assembly", "perilune.request_assembly", "perilune.requests.common_table" }, { "common_table" }, module)
perilune.excluded = setmetatable({}, { __index = function(_, name)
  require "perilune.record_assembly"
  require "perilune.request_assembly"
  require "perilune.requests.inserting"
  return perilune.excluded[name]
end })
perilune.fn = setmetatable({}, { __index = function(_, name)
  require "perilune.expressions.expression"
  return perilune.fn[name]
end })
on_first_call(perilune, "perilune.runtime.scoped_dependencies", { "with" }, module)
on_first_call(perilune, "perilune.record_assembly", { "record" }, module)
on_first_call(perilune, "perilune.events.loop", { "after", "every", "sleep", "spawn", "on_signal", "on_error" }, module)
on_first_call(perilune, "perilune.events.schedule", { "at", "schedule" }, module)
on_first_call(perilune, "perilune.events.automation", { "automation", "automations", "emit" }, module)
on_first_call(perilune, "perilune.events.jobs", { "jobs" }, module)
on_first_call(perilune, "perilune.events.durable_runs", { "signal" }, module)
on_first_call(perilune, "perilune.events.once", { "once" }, module)
on_first_call(perilune, "perilune.runtime.enum", { "enum" }, module)
on_first_call(perilune, "perilune.runtime.row_type", { "row_type" }, module)
on_first_call(perilune, "perilune.records.single_row", { "single_row" }, module)
perilune.json = {}
on_first_call(perilune.json, "perilune.runtime.json", { "array", "object", "encode", "decode" }, module .. "json.")

-- Values after the block are its arguments. A table of options there would be taken for one of them.
local no_options = { note = true, retry = true, kind = true, mode = true, timeout = true, isolation = true, immediate = true, exclusive = true, deferred = true, readonly = true }

local function are_options(value)
  if type(value) ~= "table" or getmetatable(value) ~= nil or next(value) == nil then return false end
  for name in next, value do
    if not no_options[name] then return false end
  end
  return true
end

for _, name in ipairs{ "read", "write", "in_transaction", "in_savepoint", "write_without_transaction" } do
  local run = databases.methods[name]
  databases.methods[name] = function(self, ...)
    local block, options, more = ...
    if type(block) == "function" and more == nil and are_options(options) then
      require("perilune.native.errors").raise("argument", ("db:%s: options come before the block%s"):format(name,
        name == "write" and ", as in db:write({ note = \"import\" }, function(db) ... end)" or "; this function has none"))
    elseif name == "in_transaction" and type(block) == "function" and more == nil and type(options) == "string" and no_options[options] then
      require("perilune.native.errors").raise("argument", ("db:in_transaction: the kind comes before the block; use db:in_transaction(%q, f)"):format(options))
    elseif type(block) == "string" and options == nil and not (name == "in_transaction" and no_options[block]) then
      require("perilune.native.errors").raise("argument", ("%s: argument 1: expected a function, got a string; use db:execute(sql, ...) or "
        .. "db:fetch_all(sql, ...) for SQL"):format(name))
    end
    return run(self, ...)
  end
end

local unknown_methods = require "perilune.runtime.unknown_methods"
unknown_methods(databases.methods, "database", nil, function(name)
  local has_one, db = pcall(require("perilune.native.records").default_database)
  local is_done, is_table = pcall(function() return has_one and (db:table_exists(name) or db:table_exists((name:gsub("s$", "")))) end)
  return is_done and is_table
end)
unknown_methods(perilune.json, "json", "function")
unknown_methods(perilune, "perilune", "member")
unknown_methods(perilune.log, "log", "function")
getmetatable(perilune.log).__call = function()
  require("perilune.native.errors").raise("argument", "perilune.log is a table of functions; use perilune.log.info(message, fields)")
end
for _, name in ipairs{ "date", "date_components" } do
  local metatable = getmetatable(perilune[name])
  -- Types have optional members, so that only names of other libraries are errors.
  metatable.__index = function(_, member)
    if not require("perilune.runtime.other_names").find("date", member) then return nil end
    require("perilune.runtime.checks").raise_unknown_method(perilune[name], member, "date", "function")
  end
  metatable.__metatable = false
end
arity.limit(databases.statement_methods, "statement:", { columns = 0, parameters = 0, is_readonly = 0, sql = 0, close = 0 })
for name in next, require("perilune.native.observers").methods do
  arity.limit(require("perilune.native.observers").methods, "observer:", { [name] = 0 })
end
unknown_methods(databases.statement_methods, "statement")
unknown_methods(require("perilune.native.observers").methods, "observer")

return perilune
