package import PeriluneBindings
internal import PeriluneLua

/// Lua migrations of the default database, read from a folder.
extension ScriptHost {
    /// Returns the status of a folder's migrations in the default database.
    package func migrationStatus(ofFolder folder: String) throws -> ScriptMigrations.Status {
        try migrations(inFolder: folder).status()
    }

    /// Applies a folder's pending migrations to the default database.
    ///
    /// - Parameters:
    ///   - target: The last migration to apply; `nil` to apply all.
    ///   - didApply: A closure called after each committed migration, with its duration in seconds.
    package func migrate(
        folder: String, upTo target: String?, didApply: @escaping @Sendable (String, Double) -> Void
    ) throws {
        try migrations(inFolder: folder).migrate(upTo: target, didApply: didApply)
    }

    /// Undoes the last applied migration of a folder in the default database, or all migrations that were applied after a given one.
    ///
    /// - Parameters:
    ///   - target: The last migration to keep; `nil` to undo only the last one.
    ///   - didUndo: A closure called with the name of each undone migration.
    package func migrateDown(folder: String, to target: String?, didUndo: @escaping @Sendable (String) -> Void) throws {
        try migrations(inFolder: folder).migrateDown(to: target, didUndo: didUndo)
    }

    private func migrations(inFolder folder: String) throws -> ScriptMigrations {
        try requireOwnState(for: "migrations")
        let migrations = try ScriptMigrations(in: state)
        try migrations.register(folder: folder)
        return migrations
    }
}
