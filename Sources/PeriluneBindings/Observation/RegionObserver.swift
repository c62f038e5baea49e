internal import CPeriluneRows
internal import GRDB
internal import PeriluneRecords
internal import Synchronization

/// A transaction observer that detects commits which may have changed the values of an observation.
///
/// GRDB reports which tables a statement may change, before it runs. SQLite's change count then shows whether the transaction
/// changed any rows. This includes rows that GRDB does not report individually, such as rows of WITHOUT ROWID tables and rows
/// deleted by REPLACE.
final class RegionObserver: TransactionObserver, @unchecked Sendable {
    private struct State {
        /// The region that the observation has read, or the full database before the first read.
        var region = DatabaseRegion.fullDatabase
        /// SQLite's change count before the transaction's first relevant statement.
        var countAtStart: sqlite3_int64?
        /// Whether rows may have changed even though SQLite's change count has not.
        var isNotified = false
        /// Whether the transaction may have changed the schema.
        var hasSchemaChanges = false
        /// The number of committed transactions.
        var commits = 0
        var isEnded = false

        mutating func endTransaction() {
            (countAtStart, isNotified, hasSchemaChanges) = (nil, false, false)
        }
    }

    private let state = Mutex(State())
    /// The writer's SQLite handle. Used only in GRDB's callbacks, which run on the writer's queue.
    private let connection: OpaquePointer
    private let didChange: @Sendable (_ hasRowChanges: Bool) -> Void

    /// - Parameter didChange: Called on the connection's queue after a relevant commit. Its argument is false if the transaction changed
    ///   only the schema.
    init(_ db: Database, didChange: @escaping @Sendable (_ hasRowChanges: Bool) -> Void) {
        connection = db.sqliteConnection!
        self.didChange = didChange
    }

    func end() {
        state.withLock { $0.isEnded = true }
    }

    // MARK: - Reading

    /// Begins a read of the observed values. Returns the argument for ``didRead(_:since:)``.
    func beginReading() -> Int {
        state.withLock { $0.commits }
    }

    /// Sets the region that was read.
    ///
    /// - Returns: Whether the values may already be outdated because of a commit during the read.
    func didRead(_ region: DatabaseRegion, since commits: Int) -> Bool {
        state.withLock { state in
            defer { state.region = region }
            return state.region != region && state.commits != commits
        }
    }

    /// Adds a region to the observed region, after a read that failed halfway.
    func didRead(partly region: DatabaseRegion) {
        state.withLock { $0.region = $0.region.union(region) }
    }

    // MARK: - Transactions

    /// GRDB calls this before each statement that changes rows, and when it compiles a DELETE.
    func observes(eventsOfKind kind: DatabaseEventKind) -> Bool {
        state.withLock { state in
            if state.isEnded { return false }
            if kind.tableName.hasPrefix("sqlite_") {
                if !kind.isDeclaration { state.hasSchemaChanges = true }
                return false
            }
            guard !OwnTables.contain(kind.tableName), state.region.isModified(byEventsOfKind: kind) else { return false }
            if state.countAtStart == nil { state.countAtStart = sqlite3_total_changes64(connection) }
            return true
        }
    }

    func databaseDidChange(with event: DatabaseEvent) {
        // For the rest of the transaction, the change count is sufficient.
        stopObservingDatabaseChangesUntilNextTransaction()
    }

    func databaseDidChange() {
        state.withLock { $0.isNotified = true }
        stopObservingDatabaseChangesUntilNextTransaction()
    }

    func databaseDidCommit(_ db: Database) {
        let (hasRowChanges, hasSchemaChanges) = state.withLock { state in
            state.commits += 1
            defer { state.endTransaction() }
            if state.isEnded { return (false, false) }
            let hasRowChanges = state.isNotified || state.countAtStart.map { $0 != sqlite3_total_changes64(connection) } == true
            return (hasRowChanges, state.hasSchemaChanges)
        }
        if hasRowChanges || hasSchemaChanges { didChange(hasRowChanges) }
    }

    func databaseDidRollback(_ db: Database) {
        state.withLock { $0.endTransaction() }
    }
}

extension DatabaseEventKind {
    /// The columns of the schema tables.
    private static let schemaColumns: Set = ["type", "name", "tbl_name", "rootpage", "sql"]

    /// Whether SQLite only declares a table-valued function.
    ///
    /// When a connection first compiles a statement that uses a function such as `pragma_table_info`, SQLite declares the function like a
    /// new table. It asks the authorizer for permission to update all columns of the schema table, but writes nothing. `CREATE TABLE` also
    /// asks for permission to insert a row; `ALTER TABLE` and `DROP TABLE` update fewer columns.
    fileprivate var isDeclaration: Bool {
        guard case .update(tableName: "sqlite_master", let columns) = self else { return false }
        return columns == Self.schemaColumns
    }
}
