internal import CPeriluneRows
internal import CPeriluneSQLite
internal import GRDB
internal import PeriluneLua

/// Snapshots of pools: databases that show one state, to as many reads as there are, while others write on.
///
/// A snapshot has a connection of its own, in a transaction that reads from its beginning to its end.
enum DatabaseSnapshots {
    /// Adds `snapshot` to the table of methods.
    static func install(in methods: LuaTable) throws {
        try methods.setFunction("snapshot") { arguments in
            let handle = try DatabaseHandle(arguments, 1, for: "db:snapshot")
            return try SQLiteError.telling { [try makeSnapshot(of: handle.database, in: arguments.state)] }
        }
        try methods.setFunction("has_snapshots") { arguments in
            [.boolean(try DatabaseHandle(arguments, 1, for: "db:has_snapshots").database.writer is DatabasePool)]
        }
    }

    private static func makeSnapshot(of database: ScriptDatabase, in state: LuaState) throws -> LuaValue {
        try database.requireOpen()
        guard let pool = database.writer as? DatabasePool else {
            throw BindingError(
                "usage", "db:snapshot: this database has one connection, which would keep writers waiting; only pools have snapshots")
        }
        let queue = try open(pool)
        let rights = ScriptDatabase.Rights(allowsFiles: false, allowsClosing: true, isSnapshot: true, extensions: database.extensions)
        return try ScriptDatabase.makeValue(for: queue, rights: rights, in: state).value
    }

    private static func open(_ pool: DatabasePool) throws -> DatabaseQueue {
        var configuration = pool.configuration
        configuration.readonly = true
        configuration.allowsUnsafeTransactions = true
        configuration.observesSuspensionNotifications = false
        // As pools have it: readers of a WAL wait for recoveries only.
        configuration.busyMode = .timeout(10)
        let queue = try DatabaseQueue(path: pool.path, configuration: configuration)
        try queue.unsafeRead { db in
            var code = pdb_begin_read(db.sqliteConnection)
            // The transaction begins, for SQLite, with the first page that it reads.
            if code == SQLITE_OK { code = sqlite3_exec(db.sqliteConnection, PSQL_FIRST_PAGE, nil, nil, nil) }
            guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        }
        return queue
    }
}
