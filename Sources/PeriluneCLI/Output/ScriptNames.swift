internal import PeriluneRecords

/// The names that scripts call, for messages about names that do not exist.
enum ScriptNames {
    /// Methods of databases.
    static let database = [
        "add_aggregate", "add_collation", "add_function", "after_next_transaction", "alter_table", "backup_to", "close",
        "columns", "create_fts5", "create_index", "create_table", "create_view", "drop_fts5_synchronization", "drop_index",
        "drop_table", "drop_view", "execute", "explain", "fetch_all", "fetch_one", "fetch_optional_values", "fetch_set",
        "fetch_value", "fetch_value_as", "fetch_values", "fetch_values_as", "foreign_key_violations", "foreign_keys",
        "has_unique_key", "in_savepoint", "in_transaction", "index_exists", "indexes", "interrupt",
        "is_inside_transaction", "observe_transactions", "path", "prepare", "primary_key", "read", "remove_collation",
        "remove_function", "rename_table", "rows", "schema_sql", "table_exists", "tables", "trigger_exists", "triggers",
        "tuples", "view_exists", "views", "write", "write_without_transaction",
    ]
    /// Methods of migrators.
    static let migrator = [
        "applied", "completed", "has_completed", "has_schema_changes", "is_superseded", "migrate", "names", "pending",
        "register", "register_folder", "unknown",
    ]
    /// Functions of `perilune`.
    static let perilune = [
        "after", "at", "automation", "automations", "blob", "case", "column", "common_table", "context", "count", "database",
        "date", "date_components", "emit", "enum", "every", "exists", "fn", "fts5_pattern", "json", "log", "migrator", "now",
        "null", "on_error", "on_signal", "parameter", "pool", "queue", "random", "record", "row", "row_type", "single_row",
        "sleep", "spawn", "sql", "storage_class", "uuid", "value", "value_type", "with",
    ]

    /// The name that was probably meant in a message such as `attempt to call a nil value (method 'fetch_al')`.
    static func suggestion(for message: String) -> String? {
        guard message.hasPrefix("attempt to call a nil value (") else { return nil }
        let parts = message.split(separator: "'", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        let isMethod = parts[0].hasSuffix("(method ")
        guard isMethod || parts[0].hasSuffix("(field ") else { return nil }
        return nearestName(to: String(parts[1]), among: isMethod ? database + migrator : perilune + database)
    }
}
