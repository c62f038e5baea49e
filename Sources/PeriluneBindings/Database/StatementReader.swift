internal import CPeriluneRows
internal import GRDB

/// A separate connection to the file of a pool, on which one state runs single reading statements.
///
/// GRDB assigns pool readers under locks that put threads to sleep. If each statement took a reader, states would mostly wait for
/// each other. This connection is configured like the pool's readers. It must not outlive them, so it keeps a weak reference to one
/// of them, which becomes `nil` when the pool is closed or reopens its readers.
final class StatementReader {
    private let pool: DatabasePool
    private let turns: ConnectionTurns
    /// A reader of the pool. While it exists, the pool has not closed its readers.
    private weak var sibling: Database?
    /// The connection. If it could not be opened, it is `nil`, and the pool's readers are used.
    private var connection: DatabaseQueue?
    /// The SQLite handle of the connection.
    private var handle: SQLiteConnection?

    init(_ pool: DatabasePool, _ turns: ConnectionTurns) {
        (self.pool, self.turns) = (pool, turns)
    }

    /// Runs a closure on the connection, outside a transaction.
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

    /// The SQLite handle if the connection must be closed because the pool has closed its readers; otherwise `nil`.
    var outdated: SQLiteConnection? { sibling == nil ? handle : nil }

    private func open() throws {
        // Throws if the pool is closed.
        try turns.taking(.reading, in: pool) { try pool.unsafeRead { db in sibling = db } }
        var configuration = pool.configuration
        configuration.readonly = true
        configuration.allowsUnsafeTransactions = false
        configuration.observesSuspensionNotifications = false
        // The same timeout as for pool readers. Readers of a WAL database wait only during recovery.
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
