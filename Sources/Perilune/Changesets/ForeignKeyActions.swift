internal import CPeriluneSQLite
internal import GRDB
internal import PeriluneRecords

/// Foreign key actions during changes: `ON DELETE CASCADE` and the like, which cannot be turned off like triggers. The recorded changes
/// already include the effects of these actions: the same rows would be changed twice.
enum ForeignKeyActions {
    /// Makes changes without such actions, and then looks whether a row refers to one that is not there.
    ///
    /// - Parameter outline: The tables that are changed.
    /// - Throws: What `body` throws; ``ChangesetError`` with the code `foreignKey`. Nothing is changed then.
    static func leavingOut<R>(of outline: ChangesetOutline, in db: Database, _ body: () throws -> R) throws -> R {
        let connection = db.sqliteConnection
        guard try act(outline, in: db), !hasOpenViolations(connection), psql_enable_foreign_keys(connection, -1) == 1 else { return try body() }
        let check = try ForeignKeyCheck(db, SchemaSnapshot(db), outline), before = try check.countViolations()
        var result: R?
        try db.inSavepoint {
            _ = psql_enable_foreign_keys(connection, 0)
            defer { _ = psql_enable_foreign_keys(connection, 1) }
            result = try body()
            guard try check.countViolations() <= before else {
                throw ChangesetError(.foreignKey, "the changes would leave a row that refers to one that does not exist")
            }
            return .commit
        }
        return result!
    }

    /// Whether a table that is changed has a foreign key with an action that refers to another one, or to itself.
    private static func act(_ outline: ChangesetOutline, in db: Database) throws -> Bool {
        let changed = Set(outline.tables.filter { $0.count > 0 }.map(\.name.foldedName))
        return try changed.contains { table in
            let parents = try String.fetchAll(
                db,
                sql: """
                    SELECT "table" FROM pragma_foreign_key_list(?, 'main')
                    WHERE on_delete NOT IN ('NO ACTION', 'RESTRICT') OR on_update NOT IN ('NO ACTION', 'RESTRICT')
                    """, arguments: [table])
            return parents.contains { changed.contains($0.foldedName) }
        }
    }

    /// Whether deferred foreign keys are violated now. SQLite keeps only a count, so it would miss later changes.
    private static func hasOpenViolations(_ connection: OpaquePointer?) -> Bool {
        var current: CInt = 0, highest: CInt = 0
        return sqlite3_db_status(connection, SQLITE_DBSTATUS_DEFERRED_FKS, &current, &highest, 0) == SQLITE_OK && current > 0
    }
}
