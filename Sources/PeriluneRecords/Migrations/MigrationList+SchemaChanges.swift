package import GRDB

/// Comparison of a database's schema with the result of its migrations.
extension MigrationList {
    /// Returns the differences between a database and the result of its migrations.
    ///
    /// The applied migrations run again in an in-memory scratch database.
    ///
    /// - Parameter migrateScratch: Migrates the scratch database up to and including the migration with the given name.
    package func schemaDifferences(
        of writer: any DatabaseWriter, migrateScratch: (DatabaseQueue, _ target: String) throws -> Void
    ) throws -> [SchemaDifference] {
        let (applied, contents) = try writer.unsafeRead { db in (try Self.appliedNames(db), try SchemaContents(db)) }
        let unknown = applied.filter { !names.isKnown($0) }.sorted()
        var differences = unknown.map { SchemaDifference(.added, "migration \($0)") }
        if let last = names.registered.last(where: applied.contains) {
            let scratch = try DatabaseQueue(configuration: Self.scratchConfiguration(for: writer))
            defer { try? scratch.close() }
            try migrateScratch(scratch, last)
            differences += contents.differences(from: try scratch.unsafeRead(SchemaContents.init))
        }
        return differences
    }

    /// Returns a copy of the database's configuration, without settings that do not apply to an in-memory database.
    private static func scratchConfiguration(for writer: any DatabaseWriter) -> Configuration {
        var configuration = writer.configuration
        configuration.readonly = false
        configuration.journalMode = .default
        configuration.targetQueue = nil
        configuration.writeTargetQueue = nil
        configuration.label = "migrations"
        return configuration
    }
}
