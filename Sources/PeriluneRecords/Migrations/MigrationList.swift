package import GRDB

/// An ordered list of migrations, in Lua, SQL or Swift.
///
/// GRDB's `DatabaseMigrator` runs them: each once, in a separate transaction, until one fails. This type first detects mistakes for which
/// GRDB would stop the process.
package struct MigrationList {
    package private(set) var migrations: [Migration] = []
    package private(set) var names = MigrationNames()

    package init() {}

    /// Appends a migration.
    package mutating func register(_ migration: Migration) throws(MigrationError) {
        try names.register(migration.name, merges: migration.merges)
        migrations.append(migration)
    }

    /// The callbacks and progress of a call of ``migrate(_:upTo:run:)``.
    package struct Run {
        /// Called after each committed migration, with its name and duration. If it throws, no further migration runs.
        package var didApply: (String, Duration) throws -> Void = { _, _ in }
        /// Wraps the deferred check of foreign keys, which takes long for large files.
        package var checking: (Database, @escaping () throws -> Void) throws -> Void = { _, check in try check() }
        /// The migration that is running, or that has failed.
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
    /// The calling thread must not be inside an access to the database.
    ///
    /// - Parameter target: The last migration to run; `nil` runs all.
    /// - Throws: ``MigrationError`` before any migration runs; errors of migrations; ``ForeignKeyError``; an error of GRDB.
    package func migrate(_ writer: any DatabaseWriter, upTo target: String? = nil, run: inout Run) throws {
        try check(writer, upTo: target)
        if let target {
            try names.check(target: target, applied: writer.unsafeRead(Self.appliedNames))
        }
        guard let target = target ?? names.registered.last else { return }
        let box = Box(run)
        defer { run = box.run }
        let migrator = try makeMigrator(checksForeignKeys: foreignKeysAreEnforced(by: writer), box)
        // Each repetition means that another process has applied a migration, so the loop ends.
        while try isOvertaken(migrator, writer, target) {}
        try box.run.finish()
    }

    /// Runs the migrations. Returns whether another process has applied one of them in the meantime: the pending migrations are determined
    /// before the transaction begins.
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

    /// Checks the arguments, without reading the database.
    ///
    /// - Throws: ``MigrationError``.
    package func check(_ writer: any DatabaseWriter, upTo target: String?) throws(MigrationError) {
        guard !writer.configuration.readonly else {
            throw MigrationError("a read-only database cannot be migrated", kind: .readonly)
        }
        if let target { try names.check(target: target, applied: []) }
    }

    /// Returns whether the connection enforces foreign keys, which scripts may have changed since it was opened.
    private func foreignKeysAreEnforced(by writer: any DatabaseWriter) throws -> Bool {
        try writer.writeWithoutTransaction { db in try Bool.fetchOne(db, sql: "PRAGMA foreign_keys") ?? false }
    }

    private func makeMigrator(checksForeignKeys: Bool, _ box: Box) -> DatabaseMigrator {
        // Disables GRDB's deferred check, which reports only one violation.
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

    /// The closure of a migration that GRDB calls.
    ///
    /// `@unchecked Sendable`: GRDB calls it on the thread that called `migrate`, before that call returns.
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
