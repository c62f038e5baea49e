internal import GRDB
package import PeriluneRecords

/// Tables, columns and functions of a database, for suggestions in messages about unknown names.
extension ScriptHost {
    /// Returns the names in the default database; `nil` if the database cannot be read at the moment.
    package func databaseNames() -> SchemaNames? {
        try? database.unsafeReentrantRead(SchemaNames.init)
    }

    /// Reads a Lua file.
    ///
    /// - Throws: ``ScriptFileError``.
    package static func read(_ path: String) throws -> [UInt8] {
        try ScriptFile.read(path)
    }
}

extension ScriptHost {
    /// Returns SQLite's query plan for a statement, one line per step, indented by depth; `nil` if the statement does not compile.
    package func queryPlan(of sql: String) -> [String]? {
        try? database.unsafeReentrantRead { db in try QueryPlan.lines(of: sql, in: db) }
    }
}
