internal import CPeriluneRows
internal import GRDB
internal import PeriluneLua

/// The methods of databases that act on the whole: `close`, `interrupt`, `backup_to`, `path`.
enum DatabaseVerbs {
    /// Adds them to the table of methods.
    static func install(in methods: LuaTable) throws {
        try add("close", to: methods) { handle, _ in try close(handle) }
        try add("interrupt", to: methods) { handle, _ in
            try handle.database.requireOpen()
            // GRDB may be opening a connection, under the lock that it takes to interrupt them all.
            guard !isInTrace(handle) else {
                throw BindingError("nested_access", "db:interrupt: a database cannot be used inside a trace function")
            }
            handle.database.interrupt()
        }
        try add("backup_to", to: methods) { handle, arguments in
            try backup(handle, to: DatabaseHandle(arguments, 2, for: "db:backup_to: argument 1"))
        }
        try methods.setFunction("path") { arguments in
            let database = try DatabaseHandle(arguments, 1, for: "db:path").database
            return [.string(LuaString(SQLEnvironment.plainPath(of: database.writer.path)))]
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
        try database.entering {
            _ = try handle.state.withUnsafeStack { L, _ in pdb_database_detach(L, handle.pointer) }
            try database.close()
        }
    }

    private static func backup(_ handle: DatabaseHandle, to targetHandle: DatabaseHandle) throws {
        let (source, target) = (handle.database, targetHandle.database)
        try source.requireOpen()
        try target.requireOpen()
        guard source.writer !== target.writer else {
            throw BindingError("argument", "db:backup_to: a database cannot be copied onto itself")
        }
        for handle in [handle, targetHandle] where handle.access != nil {
            throw BindingError("nested_access", "db:backup_to: cannot be called inside a block of either database")
        }
        guard !target.writer.configuration.readonly else {
            throw BindingError("readonly", "db:backup_to: the target is read-only")
        }
        try source.entering {
            try target.entering {
                for database in [source, target] { try database.writer.writeWithoutTransaction { db in try db.requireOpen() } }
                try source.writer.backup(to: target.writer, pagesPerStep: 1000) { progress in
                    if !progress.isCompleted, handle.state.hasToEnd() { throw CancellationError() }
                }
            }
        }
    }
}
