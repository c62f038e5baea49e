internal import CPeriluneRows
internal import GRDB
internal import PeriluneRecords
internal import Synchronization

/// An observer of transactions by any writer that may have changed the values read by an observation.
///
/// GRDB reports the tables that a statement will change, and one row that it changes. SQLite's change count shows whether rows were
/// changed at all, even if they are not reported individually: in tables without row ids, or by REPLACE.
final class RegionObserver: TransactionObserver, @unchecked Sendable {
    private struct State {
        /// The region that was read; the full database until something has been read.
        var region = DatabaseRegion.fullDatabase
        /// SQLite's change count at the first relevant statement of this transaction.
        var countAtStart: sqlite3_int64?
        /// Whether the values that were read may have changed.
        var isNotified = false
        /// The number of all committed transactions.
        var commits = 0
        var isEnded = false
    }

    private let state = Mutex(State())
    /// The writer. Only used in GRDB's callbacks on its queue.
    private let connection: OpaquePointer
    private let didChange: @Sendable () -> Void

    /// - Parameter didChange: Called after a relevant transaction, on the queue of the connection.
    init(_ db: Database, didChange: @escaping @Sendable () -> Void) {
        connection = db.sqliteConnection!
        self.didChange = didChange
    }

    func end() {
        state.withLock { $0.isEnded = true }
    }

    // MARK: - Reading

    /// Begins to read the observed values. Returns the argument for ``didRead(_:since:)``.
    func beginReading() -> Int {
        state.withLock { $0.commits }
    }

    /// Sets the region that was read.
    ///
    /// - Returns: Whether the values may already be outdated, because something was committed in the meantime.
    func didRead(_ region: DatabaseRegion, since commits: Int) -> Bool {
        state.withLock { state in
            defer { state.region = region }
            return state.region != region && state.commits != commits
        }
    }

    /// Adds a region to the previous one, after a read that failed in the middle.
    func didRead(partly region: DatabaseRegion) {
        state.withLock { $0.region = $0.region.union(region) }
    }

    // MARK: - Transactions

    /// Called before each statement that changes rows, and when a DELETE is compiled.
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
        // The change count is sufficient from now on.
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
