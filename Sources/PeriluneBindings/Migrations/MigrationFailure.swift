internal import CPeriluneRows
internal import GRDB
internal import PeriluneLua
internal import PeriluneRecords

/// The conversion of errors in migrations to errors that name the migration.
enum MigrationFailure {
    /// Adds the name of the migration to the error object, the suggestion for an unknown name, and the line if the migration is SQL text.
    static func annotate(_ error: LuaError, of migration: ScriptMigration, in state: LuaState, _ db: Database) throws {
        guard let value = error.raisedValue, let fields = try state.errorFields(of: value) else { return }
        try? NameSuggestion.add(to: fields, db)
        try fields.rawSet("migration", .string(LuaString(migration.name)))
        guard let sql = migration.sql else { return }
        if let file = migration.file {
            try fields.rawSet("file", .string(LuaString(file)))
            try fields.rawSet("line", .integer(Int64(line(of: fields, in: sql, state))))
        } else if case .string(let message) = try fields.rawGet("message") {
            try fields.rawSet("message", .string(LuaString("migration `\(migration.name)`: \(message)")))
        }
    }

    /// Returns the line on which the failed statement starts, or on which SQLite found a syntax error.
    private static func line(of fields: LuaTable, in sql: LuaString, _ state: LuaState) throws -> Int {
        let start = min(try state.withUnsafeStack { L, _ in pdb_statement_start(L) }, sql.bytes.count)
        var offset = 0
        if case .integer(let position) = try fields.rawGet("offset") {
            offset = Int(position) - 1
        } else {
            offset = sql.bytes[start...].withUnsafeBufferPointer(SQLScreening.blankLength)
        }
        return 1 + sql.bytes.prefix(start + offset).count { $0 == UInt8(ascii: "\n") }
    }

    /// Returns the error that the script sees.
    ///
    /// - Parameter migration: The name of the migration that was running, if any.
    static func described(_ error: any Error, migration: String?, in state: LuaState) throws -> any Error {
        let error = try described(error, in: state, migration)
        guard let migration, !state.isRunEnding else { return error }
        let value = state.errorValue(of: error)
        var fields = try state.errorFields(of: value)
        if case .table(let table) = value { fields = table }
        guard let fields, try fields.rawGet("migration").isNil else { return error }
        try fields.rawSet("migration", .string(LuaString(migration)))
        return LuaError(raising: value, in: state, after: error as? LuaError)
    }

    private static func described(_ error: any Error, in state: LuaState, _ migration: String?) throws -> any Error {
        if let error = error as? DatabaseError { return SQLiteError(error: error) }
        // In a cluster, the foreign key check does not run inside a Lua call, so its error is not wrapped.
        if let violations = error as? ForeignKeyError { return try broken(violations, in: state, migration) }
        guard let error = error as? LuaError else { return error }
        // In this process, the foreign key check runs inside a Lua call, which wraps its error.
        if error.kind == "host", let underlying = error.underlying as? DatabaseError { return SQLiteError(error: underlying) }
        if let violations = error.underlying as? ForeignKeyError { return try broken(violations, in: state, migration) }
        // An error raised with `error("text")` becomes an error object, to which the migration's name can be added.
        guard case .string? = error.raisedValue else { return error }
        return LuaError(raising: state.errorValue(of: MessageError(error: error)), in: state, after: error)
    }

    private static func broken(_ violations: ForeignKeyError, in state: LuaState, _ migration: String?) throws -> LuaError {
        let value = state.errorValue(of: BrokenReferences(migration: migration ?? "", error: violations))
        try state.errorFields(of: value)?.rawSet("violations", .table(list(of: violations, in: state)))
        return LuaError(raising: value, in: state)
    }

    private static func list(of error: ForeignKeyError, in state: LuaState) throws -> LuaTable {
        let list = try state.makeTable(arrayCount: error.violations.count)
        for (index, violation) in error.violations.enumerated() {
            let fields = try state.makeTable(fieldCount: 3)
            try fields.rawSet("table", .string(LuaString(violation.table)))
            try fields.rawSet("rowid", violation.rowID.map { .integer($0) } ?? .nil)
            try fields.rawSet("referenced_table", .string(LuaString(violation.referencedTable)))
            try list.rawSet(.integer(Int64(index + 1)), .table(fields))
        }
        return list
    }
}

/// The error object for a message that a migration raised as a string.
private struct MessageError: LuaErrorDescribing {
    let error: LuaError

    var luaKind: String { error.code.description }
    var luaMessage: String { error.message }
    var luaFields: [String: ScriptValue] {
        var fields: [String: ScriptValue] = [:]
        if let file = error.file { fields["file"] = .string(file) }
        if let line = error.line { fields["line"] = .integer(Int64(line)) }
        return fields
    }
}

/// The error of a migration after which rows refer to missing rows.
private struct BrokenReferences: LuaErrorDescribing {
    let migration: String
    let error: ForeignKeyError

    var luaKind: String { "constraint_foreign_key" }
    var luaMessage: String {
        "the migration `\(migration)` leaves rows that refer to missing rows: \(error.summary)"
            + (error.hasMore ? "; and more" : "")
    }
    var luaFields: [String: ScriptValue] {
        ["code": .integer(19), "extended_code": .integer(787), "name": "SQLITE_CONSTRAINT_FOREIGNKEY"]
    }
}
