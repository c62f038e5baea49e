internal import PeriluneRecords

/// The names that scripts call, for messages about names that do not exist.
package enum ScriptNames {
    /// Functions of `perilune`.
    package static let perilune = [
        "after", "at", "automation", "automations", "blob", "case", "column", "common_table", "context", "count", "cume_dist",
        "database", "date", "date_components", "dense_rank", "emit", "enum", "every", "excluded", "exists", "fn", "fts5_pattern",
        "history", "json", "log", "migrator", "now", "ntile", "null", "on_error", "on_signal", "parameter", "percent_rank", "pool", "queue",
        "random", "rank", "record", "row", "row_number", "row_type", "single_row", "sleep", "spawn", "sql", "storage_class", "uuid",
        "value", "value_type", "with",
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

    /// Methods of rows that a column may be called like.
    private static let rowMethods: Set = [
        "boolean", "columns", "copy", "date", "date_components", "float", "get", "has", "integer", "julian_date", "pairs", "require",
        "storage_class", "string", "to_table", "unpack", "values", "with_blob",
    ]

    /// What to write where a column of a row hides the method of its name: `attempt to call a string value (method 'date')`.
    package static func help(for message: String) -> String? {
        guard let match = message.wholeMatch(of: /attempt to call a (?:string|number|boolean) value \(method '(\w+)'\)/),
            rowMethods.contains(String(match.1))
        else { return nil }
        return "a column `\(match.1)` of a row hides the method; use perilune.row.\(match.1)(row, ...)"
    }
}
