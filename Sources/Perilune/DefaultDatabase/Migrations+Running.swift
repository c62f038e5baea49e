public import GRDB
internal import PeriluneBindings
internal import PeriluneDependencies
internal import PeriluneLua

// Execution of migrations, and their status in a database.

extension Migrations {
    /// The status of migrations in a database: which are applied, pending, edited or unknown.
    public struct Status: Sendable, Equatable {
        /// The applied migrations, in order.
        public package(set) var applied: [String]
        /// The migrations that have not been applied, in the order in which they would run.
        public package(set) var pending: [String]
        /// The applied migrations whose files were edited afterwards. Always empty for migrations in Swift.
        public package(set) var edited: [String]
        /// The applied migrations that are no longer defined, because a newer version of the program has applied them, or because they were
        /// removed.
        public package(set) var unknown: [String]

        /// Creates a status; by default, no migration is defined or applied.
        package init(applied: [String] = [], pending: [String] = [], edited: [String] = [], unknown: [String] = []) {
            (self.applied, self.pending, self.edited, self.unknown) = (applied, pending, edited, unknown)
        }

        /// Whether exactly the defined migrations have been applied, and none was edited.
        public var isUpToDate: Bool { pending.isEmpty && edited.isEmpty && unknown.isEmpty }
    }

    /// Returns the status of the migrations in a database, without changing the database.
    ///
    /// Migrations by a script or a closure have no names, so their status is empty.
    ///
    /// - Throws: `LuaError` if the folder cannot be read; a `DatabaseError`.
    public func status(in database: any DatabaseWriter) async throws -> Status {
        switch source {
        case .folder(let path):
            // Uses a separate thread, because reading the folder runs Lua, which needs a large stack.
            return try await MigrationThread().run { try Self.scripts(inFolder: path, database, .machine).status().published }
        case .migrator(let migrator):
            return try await database.read { db in try Self.status(of: migrator, db) }
        case .script, .closure: return Status()
        }
    }

    /// Applies the pending migrations to a database.
    ///
    /// - Throws: `LuaError` of kind `superseded` if the database has unknown migrations that are not accepted; errors of the migrations.
    func migrate(_ database: any DatabaseWriter, _ environment: ScriptEnvironment) throws {
        switch source {
        case .folder(let path):
            // Lua needs a larger stack than the threads of Swift concurrency have.
            try LuaThread().run { try migrate(folder: path, database, environment) }
        case .migrator(let migrator):
            try database.read { db in try check(Self.status(of: migrator, db), "the program") }
            try migrator.migrate(database)
        case .script(let text):
            try LuaThread().run {
                let state = try LuaState(libraries: .sandboxed)
                try ScriptSetup(database: database, allowsFiles: false, environment: environment).installWithChangesets(in: state)
                try state.load(LuaString(text), named: "migration").call([])
            }
        case .closure(let body): try database.write(body)
        }
    }

    private func migrate(folder path: String, _ database: any DatabaseWriter, _ environment: ScriptEnvironment) throws {
        let migrations = try Self.scripts(inFolder: path, database, environment)
        var status = try migrations.status()
        if erasesOnSchemaChange, environment.context == .preview, !status.edited.isEmpty || !status.unknown.isEmpty {
            try database.erase()
            return try migrate(folder: path, database, environment)
        }
        try check(status.published, path)
        try migrations.migrate(upTo: nil) { _, _ in }
        status = try migrations.status()
        if !status.unknown.isEmpty {
            environment.logger.warning(
                "the database has migrations that \(path) lacks: \(status.unknown.joined(separator: ", "))")
        }
        if !status.edited.isEmpty {
            environment.logger.warning(
                "migrations of \(path) were edited after they were applied: \(status.edited.joined(separator: ", "))")
        }
    }

    private func check(_ status: Status, _ source: String) throws {
        guard !acceptsUnknown, !status.unknown.isEmpty else { return }
        throw LuaError(
            .usage,
            "the database has migrations that \(source) lacks (\(status.unknown.joined(separator: ", "))): a newer version of the program "
                + "has migrated it; use that version, or open it with `acceptsUnknown: true`", fields: ["kind": "superseded"])
    }

    private static func scripts(
        inFolder path: String, _ database: any DatabaseWriter, _ environment: ScriptEnvironment
    ) throws -> ScriptMigrations {
        let state = try LuaState(libraries: .trusted)
        try ScriptSetup(database: database, allowsFiles: true, environment: environment).installWithChangesets(in: state)
        let migrations = try ScriptMigrations(in: state)
        try migrations.register(folder: path)
        return migrations
    }

    private static func status(of migrator: DatabaseMigrator, _ db: Database) throws -> Status {
        let applied = try migrator.appliedIdentifiers(db)
        var status = Status()
        status.applied = migrator.migrations.filter(applied.contains)
        status.pending = migrator.migrations.filter { !applied.contains($0) }
        status.unknown = applied.subtracting(migrator.migrations).sorted()
        return status
    }
}

extension ScriptMigrations.Status {
    fileprivate var published: Migrations.Status {
        let pending = Set(pending)
        return Migrations.Status(
            applied: names.filter { !pending.contains($0) }, pending: self.pending, edited: edited, unknown: unknown)
    }
}

/// A thread with a stack that is large enough for Lua. Runs closures without blocking a shared thread.
private struct MigrationThread {
    private let thread = LuaThread()

    func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            thread.enqueue { [thread] in
                withExtendedLifetime(thread) { continuation.resume(with: Swift.Result { try body() }) }
            }
        }
    }
}
