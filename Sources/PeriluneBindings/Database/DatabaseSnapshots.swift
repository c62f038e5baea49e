internal import CPeriluneRows
internal import CPeriluneSQLite
internal import GRDB
internal import PeriluneLua

/// Snapshots of pools. A snapshot is a database whose contents do not change while others write.
///
/// Each snapshot has a separate connection with an open read transaction.
enum DatabaseSnapshots {
    /// Adds the method `snapshot`, and the native function `has_snapshots` for the library.
    static func install(in methods: LuaTable, natives: LuaTable) throws {
        try methods.setFunction("snapshot") { arguments in
            let handle = try DatabaseHandle(arguments, 1, for: "db:snapshot")
            return try SQLiteError.telling { [try makeSnapshot(of: handle.database, in: arguments.state)] }
        }
        try natives.setFunction("has_snapshots") { arguments in
            [.boolean(try DatabaseHandle(arguments, 1, for: "has_snapshots").database.writer is DatabasePool)]
        }
    }

    private static func makeSnapshot(of database: ScriptDatabase, in state: LuaState) throws -> LuaValue {
        try database.requireOpen()
        guard let pool = database.writer as? DatabasePool else {
            throw BindingError(
                "usage",
                "db:snapshot: this database has one connection, which would keep writers waiting; only pools have snapshots")
        }
        let queue = try open(pool)
        let rights = ScriptDatabase.Rights(
            allowsFiles: false, allowsClosing: true, isSnapshot: true, extensions: database.extensions)
        return try ScriptDatabase.makeValue(for: queue, rights: rights, in: state).value
    }

    private static func open(_ pool: DatabasePool) throws -> DatabaseQueue {
        var configuration = pool.configuration
        configuration.readonly = true
        configuration.allowsUnsafeTransactions = true
        configuration.observesSuspensionNotifications = false
        // The same timeout as for pool readers. Readers of a WAL database wait only during recovery.
        configuration.busyMode = .timeout(10)
        let queue = try DatabaseQueue(path: pool.path, configuration: configuration)
        try queue.unsafeRead { db in
            var code = pdb_begin_read(db.sqliteConnection)
            // SQLite starts the read transaction only when it reads the first page.
            if code == SQLITE_OK { code = sqlite3_exec(db.sqliteConnection, PSQL_FIRST_PAGE, nil, nil, nil) }
            guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        }
        return queue
    }
}
