internal import CPeriluneRows
internal import GRDB
internal import PeriluneLua

/// The methods of databases that act on the whole: `close`, `interrupt`, `backup_to`, `path`.
enum DatabaseVerbs {
    /// Adds them to the table of methods.
    static func install(in methods: LuaTable, of state: LuaState) throws {
        try add("close", to: methods, of: state, close)
        try add("interrupt", to: methods, of: state) { core, database, _ in
            try database.requireOpen()
            database.interrupt()
        }
        try add("backup_to", to: methods, of: state, backup)
        let path = try state.core.makeFunction("db:path", raw: { core, _ in
            let (database, _) = try ScriptDatabase.require(core, at: 1, for: "db:path")
            core.push(.string(LuaString(SQLEnvironment.plainPath(of: database.writer.path))))
            return 1
        })
        try methods.set("path", .function(path))
    }

    private static func add(
        _ name: String, to methods: LuaTable, of state: LuaState,
        _ body: @escaping (LuaCore, ScriptDatabase, OpaquePointer) throws -> Void
    ) throws {
        let function = try state.core.makeFunction("db:\(name)", raw: { core, _ in
            let (database, pointer) = try ScriptDatabase.require(core, at: 1, for: "db:\(name)")
            do {
                try body(core, database, pointer)
                return 0
            } catch let error as DatabaseError {
                core.pushDatabaseError(error)
                plua_add_position(core.L)
                return CInt(PLUA_RAISE)
            }
        })
        try methods.set(.string(LuaString(name)), .function(function))
    }

    private static func close(_ core: LuaCore, _ database: ScriptDatabase, _ pointer: OpaquePointer) throws {
        if database.isClosed { return }
        guard pdb_database_is_closable(pointer) else {
            throw BindingError("not_closable", "db:close: the default database belongs to the host, which closes it")
        }
        guard pdb_current_access(core.L, pointer) == nil else {
            throw BindingError("nested_access", "db:close: cannot be called inside a block of the database")
        }
        try database.entering {
            _ = pdb_database_detach(core.L, pointer)
            try database.close()
        }
    }

    private static func backup(_ core: LuaCore, _ source: ScriptDatabase, _ pointer: OpaquePointer) throws {
        let (target, targetPointer) = try ScriptDatabase.require(core, at: 2, for: "db:backup_to: argument 1")
        try source.requireOpen()
        try target.requireOpen()
        guard source.writer !== target.writer else {
            throw BindingError("argument", "db:backup_to: a database cannot be copied onto itself")
        }
        for pointer in [pointer, targetPointer] where pdb_current_access(core.L, pointer) != nil {
            throw BindingError("nested_access", "db:backup_to: cannot be called inside a block of either database")
        }
        guard !target.writer.configuration.readonly else {
            throw BindingError("readonly", "db:backup_to: the target is read-only")
        }
        try source.entering {
            try target.entering {
                for database in [source, target] { try database.writer.writeWithoutTransaction { db in try db.requireOpen() } }
                try source.writer.backup(to: target.writer, pagesPerStep: 1000) { progress in
                    if !progress.isCompleted, plua_poll(plua_context_of(core.L)) != 0 { throw CancellationError() }
                }
            }
        }
    }
}
