internal import CPeriluneRows
internal import GRDB
internal import PeriluneLua

/// The methods that act on a whole database: `close`, `interrupt`, `checkpoint`, `path`.
enum DatabaseVerbs {
    /// Adds the methods to the table of database methods.
    static func install(in methods: LuaTable) throws {
        try add("close", to: methods) { handle, _ in try close(handle) }
        try add("interrupt", to: methods) { handle, _ in
            try handle.database.requireOpen()
            // Interrupting requires a lock that GRDB may be holding, because trace functions can also run while GRDB opens a
            // connection.
            guard !isInTrace(handle) else {
                throw BindingError("nested_access", "db:interrupt: a database cannot be used inside a trace function")
            }
            pdb_note_interruption(handle.pointer)
            handle.database.interrupt()
        }
        try methods.setFunction("checkpoint") { arguments in
            let handle = try DatabaseHandle(arguments, 1, for: "db:checkpoint")
            return try SQLiteError.telling { try checkpoint(handle, mode(arguments), in: arguments.state) }
        }
        try methods.setFunction("path") { arguments in
            let database = try DatabaseHandle(arguments, 1, for: "db:path").database
            return [.string(LuaString(database.path))]
        }
    }

    private static func add(
        _ name: String, to methods: LuaTable, _ body: @escaping (DatabaseHandle, LuaArguments) throws -> Void
    ) throws {
        try methods.setFunction(name) { arguments in
            let handle = try DatabaseHandle(arguments, 1, for: "db:\(name)")
            try SQLiteError.telling { try body(handle, arguments) }
            return []
        }
    }

    private static func isInTrace(_ handle: DatabaseHandle) -> Bool {
        let place = try? handle.state.withUnsafeStack { L, _ in
            let place = pdb_enter_place(L, PDB_IN_TRACE)
            _ = pdb_enter_place(L, place)
            return place
        }
        return place == PDB_IN_TRACE
    }

    private static func close(_ handle: DatabaseHandle) throws {
        let database = handle.database
        if database.isClosed { return }
        guard pdb_database_is_closable(handle.pointer) else {
            throw BindingError("not_closable", "db:close: the default database belongs to the host, which closes it")
        }
        guard handle.access == nil else {
            throw BindingError("nested_access", "db:close: cannot be called inside a block of the database")
        }
        try database.entering(.alone) {
            _ = try handle.state.withUnsafeStack { L, _ in pdb_database_detach(L, handle.pointer) }
            try database.close()
        }
    }

    // MARK: - Checkpoints

    private static let modes: [(name: String, mode: Database.CheckpointMode)] = [
        ("passive", .passive), ("full", .full), ("restart", .restart), ("truncate", .truncate),
    ]

    private static func mode(_ arguments: LuaArguments) throws -> Database.CheckpointMode {
        if arguments[2].isNil { return .passive }
        guard case .string(let name) = arguments[2] else {
            throw BindingError(
                "argument", "db:checkpoint: argument 1: expected the kind of checkpoint, got \(arguments[2].shortDescription)")
        }
        guard let found = modes.first(where: { $0.name == name.description }) else {
            throw BindingError.unknown("checkpoint", name.description, among: modes.map(\.name))
        }
        return found.mode
    }

    /// Runs a checkpoint. Returns a table with the number of frames in the log and the number of checkpointed frames.
    private static func checkpoint(
        _ handle: DatabaseHandle, _ mode: Database.CheckpointMode, in state: LuaState
    ) throws -> [LuaValue] {
        let database = handle.database
        try database.requireOpen()
        try database.refuseInCluster(
            "db:checkpoint: nodes of a cluster keep their logs themselves, and take snapshots of the database")
        guard handle.access == nil else {
            throw BindingError("nested_access", "db:checkpoint: cannot be called inside a block of the database")
        }
        guard !database.isSnapshot, !database.writer.configuration.readonly else {
            throw BindingError("readonly", "db:checkpoint: the database may only be read")
        }
        let counts = try database.entering(.alone) {
            try database.writer.writeWithoutTransaction { db in
                try db.requireOpen()
                return try db.checkpoint(mode)
            }
        }
        let table = try state.makeTable(fieldCount: 2)
        // SQLite returns -1 if the database has no write-ahead log.
        try table.rawSet("frames", .integer(Int64(max(counts.walFrameCount, 0))))
        try table.rawSet("checkpointed", .integer(Int64(max(counts.checkpointedFrameCount, 0))))
        return [.table(table)]
    }
}
