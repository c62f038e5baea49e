package import GRDB

/// Migrations in their order; whatever language they are written in.
///
/// GRDB's `DatabaseMigrator` runs them: each once, in a transaction of its own, up to the first that fails. What it would stop
/// the process for is checked here before.
package struct MigrationList {
    package private(set) var migrations: [Migration] = []
    package private(set) var names = MigrationNames()

    package init() {}

    /// Adds a migration after those that are there.
    package mutating func register(_ migration: Migration) throws(MigrationError) {
        try names.register(migration.name, merges: migration.merges)
        migrations.append(migration)
    }

    /// What may be done about a run, beyond what ``migrate(_:upTo:run:)`` does by itself.
    package struct Run {
        /// Called for each migration that was committed, with its duration. What it throws ends the run.
        package var didApply: (String, Duration) throws -> Void = { _, _ in }
        /// Runs the check of foreign keys that a migration defers: on large files it takes long.
        package var checking: (Database, @escaping () throws -> Void) throws -> Void = { _, check in try check() }
        /// The migration that is being run, or that has failed.
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

    /// Runs the migrations that a database has not seen.
    ///
    /// No access to the database may be open on this thread.
    ///
    /// - Parameter target: The last one to run; by default all are.
    /// - Throws: ``MigrationError`` before anything is done; what a migration throws; ``ForeignKeyError``; an error of GRDB.
    package func migrate(_ writer: any DatabaseWriter, upTo target: String? = nil, run: inout Run) throws {
        try check(writer, upTo: target)
        if let target {
            try names.check(target: target, applied: writer.unsafeRead(Self.appliedNames))
        }
        guard let target = target ?? names.registered.last else { return }
        let box = Box(run)
        defer { run = box.run }
        let migrator = try makeMigrator(checksForeignKeys: foreignKeysAreEnforced(by: writer), box)
        // Each time another process has applied one, so that this ends.
        while try isOvertaken(migrator, writer, target) {}
        try box.run.finish()
    }

    /// Runs the migrations. Returns whether another program has applied one of them meanwhile: what is pending was found out
    /// before its transaction began.
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

    /// Checks what can be known without a look into the database.
    ///
    /// - Throws: ``MigrationError``.
    package func check(_ writer: any DatabaseWriter, upTo target: String?) throws(MigrationError) {
        guard !writer.configuration.readonly else {
            throw MigrationError("a read-only database cannot be migrated", kind: .readonly)
        }
        if let target { try names.check(target: target, applied: []) }
    }

    /// Scripts may have changed it since the database was opened.
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

    /// The names of all migrations that a database has seen.
    package static func appliedNames(_ db: Database) throws -> Set<String> {
        try DatabaseMigrator().appliedIdentifiers(db)
    }

    private final class Box {
        var run: Run

        init(_ run: Run) {
            self.run = run
        }
    }

    /// What GRDB runs.
    ///
    /// `@unchecked Sendable`: it does so on the thread that calls `migrate`, within that call.
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
