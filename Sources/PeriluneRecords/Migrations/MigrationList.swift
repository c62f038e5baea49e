package import GRDB

/// Migrations in order, in any language.
///
/// GRDB's `DatabaseMigrator` runs them: each once, in a separate transaction, up to the first failure. Mistakes for which GRDB would stop
/// the process are detected here first.
package struct MigrationList {
    package private(set) var migrations: [Migration] = []
    package private(set) var names = MigrationNames()

    package init() {}

    /// Adds a migration at the end.
    package mutating func register(_ migration: Migration) throws(MigrationError) {
        try names.register(migration.name, merges: migration.merges)
        migrations.append(migration)
    }

    /// The options and state of a run of ``migrate(_:upTo:run:)``.
    package struct Run {
        /// Called with each committed migration and its duration. An error ends the run.
        package var didApply: (String, Duration) throws -> Void = { _, _ in }
        /// Runs the deferred check of foreign keys, which takes long on large files.
        package var checking: (Database, @escaping () throws -> Void) throws -> Void = { _, check in try check() }
        /// The migration that is running or has failed.
        package fileprivate(set) var current: String?
        private var start = ContinuousClock.now

        package init() {}

        fileprivate mutating func begin(_ name: String, _ db: Database) throws {
            try finish()
            let isApplied = "SELECT EXISTS (SELECT 1 FROM grdb_migrations WHERE identifier = ?)"
            if try Bool.fetchOne(db, sql: isApplied, arguments: [name]) == true { throw AppliedMeanwhile() }
            current = name
            start = .now
        }

        fileprivate mutating func finish() throws {
            guard let name = current else { return }
            current = nil
            try didApply(name, .now - start)
        }
    }

    /// Runs the pending migrations.
    ///
    /// This thread must have no open access to the database.
    ///
    /// - Parameter target: The last migration to run; by default all run.
    /// - Throws: ``MigrationError`` before anything is done; errors of migrations; ``ForeignKeyError``; an error of GRDB.
    package func migrate(_ writer: any DatabaseWriter, upTo target: String? = nil, run: inout Run) throws {
        try check(writer, upTo: target)
        if let target {
            try names.check(target: target, applied: writer.unsafeRead(Self.appliedNames))
        }
        guard let target = target ?? names.registered.last else { return }
        let box = Box(run)
        defer { run = box.run }
        let migrator = try makeMigrator(checksForeignKeys: foreignKeysAreEnforced(by: writer), box)
        // Each repetition means that another process has applied a migration, so this ends.
        while try isOvertaken(migrator, writer, target) {}
        try box.run.finish()
    }

    /// Runs the migrations. Returns whether another program has applied one of them in the meantime, because the pending ones were
    /// determined before the transaction began.
    private func isOvertaken(
        _ migrator: DatabaseMigrator, _ writer: any DatabaseWriter, _ target: String
    ) throws -> Bool {
        do {
            try migrator.migrate(writer, upTo: target)
            return false
        } catch is AppliedMeanwhile {
            return true
        }
    }

    private struct AppliedMeanwhile: Error {}

    /// Checks everything that can be checked without reading the database.
    ///
    /// - Throws: ``MigrationError``.
    package func check(_ writer: any DatabaseWriter, upTo target: String?) throws(MigrationError) {
        guard !writer.configuration.readonly else {
            throw MigrationError("a read-only database cannot be migrated", kind: .readonly)
        }
        if let target { try names.check(target: target, applied: []) }
    }

    /// Returns whether foreign keys are enforced. Scripts may have changed it since the database was opened.
    private func foreignKeysAreEnforced(by writer: any DatabaseWriter) throws -> Bool {
        try writer.writeWithoutTransaction { db in try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") ?? false }
    }

    private func makeMigrator(checksForeignKeys: Bool, _ box: Box) -> DatabaseMigrator {
        // GRDB's own deferred check reports only one violation.
        var migrator = DatabaseMigrator().disablingDeferredForeignKeyChecks()
        for migration in migrations {
            let body = Body(migration: migration, checksForeignKeys: checksForeignKeys, box: box)
            migrator.registerMigration(
                migration.name, foreignKeyChecks: migration.foreignKeyChecks == .immediate ? .immediate : .deferred,
                merging: Set(migration.merges)
            ) { db, applied in
                try body.run(db, applied)
            }
        }
        return migrator
    }

    /// Returns the names of all applied migrations.
    package static func appliedNames(_ db: Database) throws -> Set<String> {
        try DatabaseMigrator().appliedIdentifiers(db)
    }

    private final class Box {
        var run: Run

        init(_ run: Run) {
            self.run = run
        }
    }

    /// The migration as GRDB runs it.
    ///
    /// `@unchecked Sendable`: it runs on the thread that calls `migrate`, within that call.
    private struct Body: @unchecked Sendable {
        let migration: Migration
        let checksForeignKeys: Bool
        let box: Box

        func run(_ db: Database, _ applied: Set<String>) throws {
            try box.run.begin(migration.name, db)
            try migration.body(db, applied)
            guard migration.foreignKeyChecks == .deferred, checksForeignKeys else { return }
            try box.run.checking(db) { try ForeignKeyError.check(db) }
        }
    }
}
