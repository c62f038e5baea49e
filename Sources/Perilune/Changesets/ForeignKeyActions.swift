internal import CPeriluneSQLite
internal import GRDB
internal import PeriluneRecords

/// Suppression of foreign key actions, such as `ON DELETE CASCADE`, while a changeset is applied. A changeset already contains the effects
/// of these actions, which would otherwise change the same rows twice. SQLite has a switch for triggers but not for foreign key actions, so
/// foreign keys are disabled and then checked.
enum ForeignKeyActions {
    /// Runs a closure that applies changes without foreign key actions, and then checks that no foreign key refers to a missing row.
    ///
    /// - Parameter outline: The outline of the changes.
    /// - Throws: The error of `body`, or ``ChangesetError`` with the code `foreignKey`. In both cases, the changes are undone.
    static func leavingOut<R>(of outline: ChangesetOutline, in db: Database, _ body: () throws -> R) throws -> R {
        let connection = db.sqliteConnection
        guard try act(outline, in: db), !hasOpenViolations(connection), psql_enable_foreign_keys(connection, -1) == 1 else {
            return try body()
        }
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

    /// Returns whether a changed table has a foreign key with an action, and the key refers to a changed table.
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

    /// Returns whether deferred foreign keys are currently violated. In this case, foreign keys must not be disabled, because SQLite's
    /// counter of violations would become wrong.
    private static func hasOpenViolations(_ connection: OpaquePointer?) -> Bool {
        var current: CInt = 0, highest: CInt = 0
        return sqlite3_db_status(connection, SQLITE_DBSTATUS_DEFERRED_FKS, &current, &highest, 0) == SQLITE_OK && current > 0
    }
}
