internal import PeriluneRecords

/// The names that scripts call, for messages about names that do not exist.
package enum ScriptNames {
    /// Functions of `perilune`.
    package static let perilune = [
        "after", "at", "automation", "automations", "blob", "case", "column", "common_table", "context", "count", "database",
        "date", "date_components", "emit", "enum", "every", "exists", "fn", "fts5_pattern", "json", "log", "migrator", "now",
        "null", "on_error", "on_signal", "parameter", "pool", "queue", "random", "record", "row", "row_type", "single_row",
        "sleep", "spawn", "sql", "storage_class", "uuid", "value", "value_type", "with",
    ]

    /// The name that was probably meant in a message such as `attempt to call a nil value (field 'quue')`.
    package static func suggestion(for message: String) -> String? {
        guard message.hasPrefix("attempt to call a nil value (") else { return nil }
        let parts = message.split(separator: "'", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        // Methods of databases and migrators suggest the nearest name themselves.
        guard parts[0].hasSuffix("(field ") else { return nil }
        return nearestName(to: String(parts[1]), among: perilune)
    }
}
