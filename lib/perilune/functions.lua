--- Passes the functions that are loaded on their first call to a function: the prefix of their names, their modules, and their names.
-- Generated from lib/reference/api by scripts/reference.
return function(add)
  add("perilune.", "perilune.runtime.vectors", { "vector", "vector_numbers" })
  add("perilune.", "perilune.runtime.types", { "storage_class", "value_type" })
  add("perilune.", "perilune.runtime.scoped_dependencies", { "with" })
  add("perilune.", "perilune.runtime.enum", { "enum" })
  add("perilune.", "perilune.runtime.row_type", { "row_type" })
  add("perilune.json.", "perilune.runtime.json", { "encode", "decode", "array", "object" })
  add("perilune.", "perilune.databases.clusters", { "cluster" })
  add("db:", "perilune.databases.clusters", { "cluster_nodes" })
  add("db:", "perilune.schema.introspection", {
    "fetch_value_as", "fetch_values_as", "explain", "tables", "views",
    "triggers", "table_exists", "view_exists", "index_exists", "trigger_exists",
    "columns", "primary_key", "indexes", "has_unique_key", "foreign_keys",
    "foreign_key_violations", "schema_sql",
  })
  add("db:", "perilune.runtime.functions", {
    "add_function", "add_aggregate", "add_collation", "remove_function", "remove_collation",
  })
  add("db:", "perilune.databases.snapshots", { "write_then_read" })
  add("db:", "perilune.databases.backups", { "backup_to" })
  add("db:", "perilune.databases.open_blobs", { "open_blob" })
  add("perilune.row.", "perilune.runtime.row", { "new" })
  add("row:", "perilune.runtime.row", {
    "has", "get", "require", "integer", "float",
    "string", "boolean", "date", "date_components", "storage_class",
    "columns", "values", "unpack", "pairs", "to_table",
    "copy",
  })
  add("db:", "perilune.schema.table_creation", { "create_table", "drop_table" })
  add("db:", "perilune.schema.table_alteration", { "alter_table", "rename_table" })
  add("db:", "perilune.schema.indexes", { "create_index", "drop_index" })
  add("db:", "perilune.schema.view_creation", { "create_view", "drop_view" })
  add("db:", "perilune.schema.trigger_creation", { "create_trigger", "drop_trigger" })
  add("db:", "perilune.schema.full_text", { "create_fts5", "drop_fts5_synchronization" })
  add("perilune.", "perilune.schema.full_text_pattern", { "fts5_pattern" })
  add("perilune.", "perilune.migrations.migrator", { "migrator" })
  add("perilune.", "perilune.record_assembly", { "record" })
  add("perilune.", "perilune.records.single_row", { "single_row" })
  add("perilune.", "perilune.record_assembly perilune.request_assembly perilune.events.history", { "history" })
  add("db:", "perilune.databases.changesets", { "record_changes", "apply_changes" })
  add("perilune.", "perilune.databases.changesets", { "changeset" })
  add("perilune.", "perilune.record_assembly perilune.request_assembly perilune.requests.common_table", { "common_table" })
  add("perilune.", "perilune.expressions.expression", { "column", "value", "sql", "parameter", "count", "case", "exists" })
  add("perilune.", "perilune.expressions.expression perilune.expressions.windows", {
    "row_number", "rank", "dense_rank", "percent_rank", "cume_dist",
    "ntile",
  })
  add("db:", "perilune.events.transaction_observers", { "observe_transactions", "after_next_transaction" })
  add("db:", "perilune.events.value_observation", { "observe", "observe_region", "share_observation", "notify_changes" })
  add("perilune.", "perilune.events.loop", { "after", "every", "sleep", "spawn", "on_signal", "on_error" })
  add("perilune.", "perilune.events.schedule", { "schedule", "at" })
  add("perilune.", "perilune.events.automation", { "automation", "automations" })
  add("perilune.", "perilune.events.automation perilune.events.automation_triggers", { "emit" })
  add("perilune.", "perilune.events.durable_runs", { "signal" })
  add("perilune.", "perilune.events.jobs", { "jobs" })
  add("perilune.", "perilune.events.once", { "once" })
end
