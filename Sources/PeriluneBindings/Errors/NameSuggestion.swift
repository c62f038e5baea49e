internal import GRDB
internal import PeriluneLua
internal import PeriluneRecords

/// The suggestion for an unknown name in SQL, added to the error before its transaction is rolled back. After the rollback, tables and
/// columns that the transaction has added are missing, so the report would suggest other names.
enum NameSuggestion {
    /// Adds the fields `help` and `suggestion` to the fields of an error object.
    static func add(to fields: LuaTable, _ db: Database) throws {
        guard case .string(let message) = try fields.rawGet("message"), case .string(let sql) = try fields.rawGet("sql"),
            try fields.rawGet("help").isNil, Suggestion.concerns(message.description),
            let suggestion = Suggestion(message: message.description, sql: sql.description, schema: try SchemaNames(of: db))
        else { return }
        try fields.rawSet("help", .string(LuaString(suggestion.help)))
        if let name = suggestion.names.first { try fields.rawSet("suggestion", .string(LuaString(name))) }
    }
}
