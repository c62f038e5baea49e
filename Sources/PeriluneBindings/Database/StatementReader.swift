internal import CPeriluneRows
internal import GRDB

/// A connection for the single statements that one state reads from a pool.
///
/// GRDB assigns pool readers under locks that put threads to sleep, so states that took a reader for each statement would mostly
/// wait for each other. This connection is configured like the readers of the pool and does not outlive them: when the pool is
/// closed or reopens its readers, the weakly referenced sibling disappears.
final class StatementReader {
    private let pool: DatabasePool
    private let turns: ConnectionTurns
    /// A reader of the pool, which indicates that the pool is unchanged.
    private weak var sibling: Database?
    /// `nil` if it could not be opened; then the readers of the pool are used.
    private var connection: DatabaseQueue?
    /// The SQLite handle of the connection.
    private var handle: SQLiteConnection?

    init(_ pool: DatabasePool, _ turns: ConnectionTurns) {
        (self.pool, self.turns) = (pool, turns)
    }

    /// Runs a closure with the connection, without a transaction.
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

    /// The connection if the pool has closed its readers, so that it must be closed too.
    var outdated: SQLiteConnection? { sibling == nil ? handle : nil }

    private func open() throws {
        // Throws if the pool is closed.
        try turns.taking(.reading, in: pool) { try pool.unsafeRead { db in sibling = db } }
        var configuration = pool.configuration
        configuration.readonly = true
        configuration.allowsUnsafeTransactions = false
        configuration.observesSuspensionNotifications = false
        // As in pools: readers of a WAL database wait only for recovery.
        configuration.busyMode = .timeout(10)
        connection = try? DatabaseQueue(path: pool.path, configuration: configuration)
        handle = connection?.unsafeRead { db in db.sqliteConnection }
    }

    /// Closes the connection; the next statement opens a new one.
    ///
    /// - Parameter release: Releases the remaining statements.
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
