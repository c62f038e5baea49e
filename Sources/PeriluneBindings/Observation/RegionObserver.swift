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
        /// Whether the values may have changed, even if SQLite's change count is the same.
        var isNotified = false
        /// The number of committed transactions.
        var commits = 0
        var isEnded = false
    }

    private let state = Mutex(State())
    /// The writer's SQLite handle. Used only in GRDB's callbacks, which run on the writer's queue.
    private let connection: OpaquePointer
    private let didChange: @Sendable () -> Void

    /// - Parameter didChange: Called on the connection's queue after a relevant commit.
    init(_ db: Database, didChange: @escaping @Sendable () -> Void) {
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
                state.isNotified = true
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
        let hasChanged = state.withLock { state in
            state.commits += 1
            defer { (state.countAtStart, state.isNotified) = (nil, false) }
            if state.isEnded { return false }
            return state.isNotified || state.countAtStart.map { $0 != sqlite3_total_changes64(connection) } == true
        }
        if hasChanged { didChange() }
    }

    func databaseDidRollback(_ db: Database) {
        state.withLock { ($0.countAtStart, $0.isNotified) = (nil, false) }
    }
}
