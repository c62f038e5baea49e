--- What is loaded with every state, and what only when it is used.

local internal = ...
local perilune = internal.perilune
local loaded = {}

--- What a module returns; it is run once.
function internal.load(name)
  if loaded[name] == nil then loaded[name] = internal.compile(name)(internal) or true end
  return loaded[name]
end

local types = internal.load("perilune.runtime.types")
internal.types = types
perilune.value_type, perilune.storage_class = types.value_type, types.storage_class
perilune.enum = internal.load("perilune.runtime.enum")

for _, name in ipairs{ "schema_generation", "default_database", "is_database", "class_of" } do
  internal[name] = internal.records[name]
end

-- The methods of rows are found through the table that the row path made.
for name, method in pairs(internal.load("perilune.runtime.row")) do internal.row[name] = method end
perilune.row = internal.row

internal.load("perilune.schema.introspection")
internal.load("perilune.runtime.functions")

--- Puts functions into a table that load the module which defines them, when first called. The module puts its own in their
-- place.
local function lazily(target, module, names)
  for _, name in ipairs(names) do
    target[name] = function(...)
      internal.load(module)
      return target[name](...)
    end
  end
end

-- What messages and conditions ask of any value; what makes such values is loaded with the first of them.
for _, mark in ipairs{ "expression", "request", "association" } do
  internal["is_" .. mark] = function(value) return type(value) == "table" and getmetatable(value) == mark end
end

--- An expression as SQL without parameters, its columns without their table: for definitions.
function internal.inline_sql(expression)
  return internal.load("perilune.expressions.swift_bridge").inline(expression)
end

lazily(internal.database, "perilune.schema.table_creation", { "create_table", "drop_table" })
lazily(internal.database, "perilune.schema.indexes", { "create_index", "drop_index" })
lazily(internal.database, "perilune.schema.view_creation", { "create_view", "drop_view" })
lazily(internal.database, "perilune.schema.table_alteration", { "alter_table", "rename_table" })
lazily(internal.database, "perilune.schema.full_text", { "create_fts5", "drop_fts5_synchronization" })
lazily(internal.database, "perilune.events.value_observation", { "observe", "notify_changes" })
lazily(internal.database, "perilune.events.transaction_observers", { "observe_transactions", "after_next_transaction" })
lazily(perilune, "perilune.schema.full_text_pattern", { "fts5_pattern" })
lazily(perilune, "perilune.migrations.migrator", { "migrator" })
lazily(perilune, "perilune.expressions.expression", { "sql", "column", "value", "parameter", "count", "case", "exists" })
lazily(perilune, "perilune.requests.common_table", { "common_table" })
perilune.fn = setmetatable({}, { __index = function(_, name)
  internal.load("perilune.expressions.expression")
  return perilune.fn[name]
end })
lazily(perilune, "perilune.runtime.scoped_dependencies", { "with" })
lazily(perilune, "perilune.records.class", { "record" })
lazily(perilune, "perilune.events.loop", { "after", "every", "sleep", "spawn", "on_signal", "on_error" })
lazily(perilune, "perilune.events.schedule", { "at" })
lazily(perilune, "perilune.events.automation", { "automation", "automations", "emit" })
lazily(perilune, "perilune.runtime.row_type", { "row_type" })
lazily(perilune, "perilune.records.single_row", { "single_row" })
perilune.json = {}
lazily(perilune.json, "perilune.runtime.json", { "array", "object", "encode", "decode" })
