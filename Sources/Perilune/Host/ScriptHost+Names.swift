package import GRDB
internal import PeriluneRecords

/// Tables, columns and functions of a database, for suggestions in messages about unknown names.
extension ScriptHost {
    /// The tables, columns and SQL functions of a database, for suggestions in messages about unknown names.
    package struct DatabaseNames: Sendable {
        /// The tables and views with their columns.
        package var tables: [(name: String, columns: [String])] = []
        /// The names of the SQL functions, without duplicates.
        package var functions: [String] = []

        /// Reads the names from a database.
        package init(of db: Database) throws {
            let names = try SchemaNames(of: db)
            tables = names.tables.map { ($0.name, $0.columns) }
            functions = names.functions
        }
    }

    /// Returns the names in the default database; `nil` if the database cannot be read at the moment.
    package func databaseNames() -> DatabaseNames? {
        try? database.unsafeReentrantRead(DatabaseNames.init)
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
