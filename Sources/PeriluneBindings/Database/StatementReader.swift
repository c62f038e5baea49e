internal import CPeriluneRows
internal import GRDB

/// Reads the single statements of one state that uses a pool, on a connection of its own.
///
/// GRDB hands the readers of a pool out under locks that put threads to sleep: states that took one for each statement would
/// wait for each other most of the time. The connection is like those readers, and lives no longer than they do: a pool that
/// is closed, or reopens its readers, lets go of the one that is kept in sight.
final class StatementReader {
    private let pool: DatabasePool
    private let turns: ConnectionTurns
    /// A reader of the pool.
    private weak var sibling: Database?
    /// `nil` if it could not be opened: the readers of the pool will do.
    private var connection: DatabaseQueue?
    /// SQLite's handle of the connection.
    private var handle: SQLiteConnection?

    init(_ pool: DatabasePool, _ turns: ConnectionTurns) {
        (self.pool, self.turns) = (pool, turns)
    }

    /// Runs a closure with a connection that reads, without a transaction.
    func read(_ body: (Database) throws -> Void) throws {
        if sibling == nil { try open() }
        if let connection { return try connection.unsafeRead(body) }
        try turns.taking(.reading, in: pool) {
            try pool.unsafeRead { db in
                turns.endWaitForReader()
                try body(db)
            }
        }
    }

    /// The connection if the pool has let go of those that it is like: it is to be closed.
    var outdated: SQLiteConnection? { sibling == nil ? handle : nil }

    private func open() throws {
        // Fails if the pool is closed.
        try turns.taking(.reading, in: pool) { try pool.unsafeRead { db in sibling = db } }
        var configuration = pool.configuration
        configuration.readonly = true
        configuration.allowsUnsafeTransactions = false
        configuration.observesSuspensionNotifications = false
        // As pools have it: readers of a WAL wait for recoveries only.
        configuration.busyMode = .timeout(10)
        connection = try? DatabaseQueue(path: pool.path, configuration: configuration)
        handle = connection?.unsafeRead { db in db.sqliteConnection }
    }

    /// Closes the connection; the next statement opens another one.
    ///
    /// - Parameter release: Releases what is left of its statements.
    func close(_ release: () -> Void) {
        connection?.unsafeRead { _ in release() }
        connection = nil
        handle = nil
        sibling = nil
    }

    func interrupt() {
        connection?.interrupt()
    }
}
