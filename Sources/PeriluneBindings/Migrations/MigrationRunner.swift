internal import CPeriluneRows
internal import GRDB
internal import PeriluneLua
internal import PeriluneRecords

/// A runner that executes script functions in the transactions that GRDB opens for migrations.
struct MigrationRunner {
    let state: LuaState
    /// The database that is migrated.
    let database: ScriptDatabase
    let value: LuaValue

    /// The arguments that GRDB passes to a migration.
    struct Step {
        let db: Database
        let applied: Set<String>
    }

    /// Runs a migration with a database handle that becomes invalid afterward.
    func run(_ migration: ScriptMigration, _ step: Step) throws {
        // The previous migration may have been a Swift migration, whose schema changes the state has not noticed.
        try forgetSchema()
        try database.place.begin(migration: migration.name)
        var arguments: [LuaValue] = []
        if !migration.merges.isEmpty { arguments.append(.table(try makeSet(step.applied))) }
        do {
            try enter(migration.body, arguments, in: step.db)
        } catch let error as LuaError {
            try MigrationFailure.annotate(error, of: migration, in: state, step.db)
            throw error
        }
        guard sqlite3_get_autocommit(step.db.sqliteConnection) == 0 else {
            throw BindingError(
                "abort", "the migration `\(migration.name)` was rolled back by an error that it caught",
                fields: ["migration": .string(migration.name)])
        }
        try database.place.keep(migration: migration.name, checksum: migration.checksum, merging: migration.merges)
        // In a cluster, this writes to the local copy of the schema, where GRDB also stores the names. The copy is not loaded again
        // until another client changes the schema.
        guard let checksum = migration.checksum else { return }
        try MigrationChecksums.keep(checksum, of: migration.name, merging: migration.merges, in: step.db)
    }

    /// Checks foreign keys under the script's limits.
    func checkForeignKeys(_ db: Database, _ body: @escaping () throws -> Void) throws {
        try database.place.checkForeignKeys { try watch(db, body) }
    }

    /// Runs a long SQLite operation under the script's limits.
    private func watch(_ db: Database, _ body: @escaping () throws -> Void) throws {
        // The script may get hold of the Lua function, so the function must have no effect after this call.
        let box = Box(body: body)
        defer { box.body = nil }
        let function = try state.makeFunction("migration") { _ in
            try box.body?()
            return []
        }
        // If a script's collation raised an error, that error replaces the SQLite error of the operation.
        try enter(function, [], in: db) { L in _ = pdb_take_pending_error(L) }
    }

    private final class Box {
        var body: (() throws -> Void)?

        init(body: @escaping () throws -> Void) {
            self.body = body
        }
    }

    /// Calls a script function inside an access to the connection.
    ///
    /// - Parameter didFail: Called if the function fails. It may replace the error on the Lua stack.
    private func enter(
        _ function: LuaFunction, _ arguments: [LuaValue], in db: Database, didFail: (OpaquePointer) -> Void = { _ in }
    ) throws {
        database.releaseLeftover()
        let pointer = try pointer()
        let block = try state.makeValue(c: pdb_push_block)
        try state.withUnsafeStack([block, value, .function(function)] + arguments) { L, _ in
            var entry = pdb_access_request()
            entry.L = L
            entry.database = pointer
            entry.mode = PDB_MIGRATION
            entry.argument_count = CInt(arguments.count + 2)
            let status = pdb_run_access(&entry, db.sqliteConnection, Unmanaged.passUnretained(db).toOpaque())
            guard status != 0 else { return }
            didFail(L)
            let error = state.takeUnsafeError(status: status)
            pdb_drop_pending_error(L)
            throw error
        }
    }

    /// Returns the row path's representation of the database.
    private func pointer() throws -> OpaquePointer {
        guard let handle = DatabaseHandle(value, in: state) else { throw BindingError("closed", "the database is closed") }
        return handle.pointer
    }

    /// Runs a closure after making sure that the schema and the names of applied migrations are up to date.
    func migrating<Result>(_ body: () throws -> Result) throws -> Result {
        let pointer = try pointer()
        return try database.place.migrating(
            database.writer,
            forget: { db in
                try db.requireOpen()
                try? state.withUnsafeStack { L, _ in pdb_forget_connection(L, pointer, db.sqliteConnection) }
                database.releaseLeftover()
            },
            {
                database.knownLoads = database.place.loads
                return try body()
            })
    }

    /// Discards the cached schema, which is read again when needed.
    func forgetSchema() throws {
        pdb_forget_schema(try pointer())
    }

    // MARK: - Scratch databases

    /// Defines the SQL functions and collations that scripts have defined for another database.
    func copyDefinitions(of other: MigrationRunner) throws {
        try state.withUnsafeStack { L, _ in try pdb_copy_definitions(L, other.pointer(), pointer()) }
    }

    /// Releases the Lua values that belong to a database which is no longer used.
    func abandon() {
        _ = try? state.withUnsafeStack { L, _ in try pdb_database_detach(L, pointer()) }
        database.abandon()
    }

    private func makeSet(_ names: Set<String>) throws -> LuaTable {
        let set = try state.makeTable()
        for name in names { try set.rawSet(.string(LuaString(name)), .boolean(true)) }
        return set
    }
}
