internal import CPeriluneRows
internal import GRDB
internal import PeriluneRecords
internal import Synchronization

/// Notices transactions of any writer that may have changed what an observation has read.
///
/// GRDB reports which tables a statement is about to change, and one row that it changes; whether anything was changed at all
/// shows in SQLite's count of changes, also where rows are not reported one by one: in tables without row ids, or by REPLACE.
final class RegionObserver: TransactionObserver, @unchecked Sendable {
    private struct State {
        /// What was read. Everything, as long as nothing has been.
        var region = DatabaseRegion.fullDatabase
        /// SQLite's count when a statement came that may concern it, in this transaction.
        var countAtStart: sqlite3_int64?
        /// Whether it is known that what was read may be different now.
        var isNotified = false
        /// How many transactions were committed, whatever they did.
        var commits = 0
        var isEnded = false
    }

    private let state = Mutex(State())
    /// The connection that writes. Only touched by what GRDB calls on its queue.
    private let connection: OpaquePointer
    private let didChange: @Sendable () -> Void

    /// - Parameter didChange: Called after such a transaction, on the queue of the connection.
    init(_ db: Database, didChange: @escaping @Sendable () -> Void) {
        connection = db.sqliteConnection!
        self.didChange = didChange
    }

    func end() {
        state.withLock { $0.isEnded = true }
    }

    // MARK: - Reading

    /// Says that what is to be observed is read from now on. Returns what ``didRead(_:since:)`` is given.
    func beginReading() -> Int {
        state.withLock { $0.commits }
    }

    /// Says what was read.
    ///
    /// - Returns: Whether it may be out of date already, since something was committed meanwhile that was not observed then.
    func didRead(_ region: DatabaseRegion, since commits: Int) -> Bool {
        state.withLock { state in
            defer { state.region = region }
            return state.region != region && state.commits != commits
        }
    }

    /// What was read before, as well: for reading that has failed in its middle.
    func didRead(partly region: DatabaseRegion) {
        state.withLock { $0.region = $0.region.union(region) }
    }

    // MARK: - Transactions

    /// Asked before each statement that changes rows, and when one that deletes is compiled.
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
        // The count says the rest.
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
