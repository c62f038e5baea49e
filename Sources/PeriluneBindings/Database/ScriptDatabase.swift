internal import CPeriluneRows
internal import CPeriluneShim
internal import CPeriluneSQLite
internal import Foundation
package import GRDB
package import PeriluneLua
internal import PeriluneCluster
internal import PeriluneRecords

/// A database as one Lua state uses it.
///
/// Its connections, transactions and statements are GRDB's. The row path in C asks it, by the callbacks of
/// ``DatabaseCallbacks``, to open accesses and to prepare and run statements; what GRDB would stop the process for has been
/// checked before.
package final class ScriptDatabase {
    let writer: any DatabaseWriter
    /// Where scripts wait for its connections.
    let turns: ConnectionTurns
    /// The connection whose waits for locks end with the run.
    private var cancellablyWaiting: SQLiteConnection?
    /// Reads single statements, if the database is a pool.
    let statementReader: StatementReader?
    private(set) var isClosed = false
    /// What is known of its tables.
    var schema = DatabaseSchema(generation: 0)
    /// What its requests were compiled to.
    let requestPlans = PlanCache()
    /// Its tables as the Lua part sees them, by folded name, with the id of what they were made from.
    var schemaTables: [String: (id: UInt32, table: LuaTable)] = [:]
    /// Why nothing may open an access now: the state is in one, or opens or ends one.
    private var enteredFor: String?
    /// Whether the script has opened it, so that nothing but this object uses it.
    private let isOwn: Bool
    /// What its connections load before the script uses them.
    let extensions: SQLiteExtensions
    /// The cluster for which it stands, if it does.
    let cluster: ClusterDatabase?
    /// How often the schema of the cluster had been loaded when statements were compiled.
    var clusterLoads = 0
    /// Whether it shows one state of another database; see ``DatabaseSnapshots``.
    let isSnapshot: Bool
    /// Whether a transaction that SQL begins stays open between calls, until SQL ends it.
    let keepsTransactions: Bool
    /// Statements of the row path that belong to no access any more, to be released on the database's queue.
    private let leftover: UnsafeMutablePointer<pdb_release_list>
    /// What observes its values.
    private var valueObservers: [WeakObserver] = []
    /// What those have left that have ended.
    private var retired: [any TransactionObserver] = []

    private struct WeakObserver {
        weak var observer: ValueObserver?
    }

    /// What a script may do with a database, beyond reading and writing it.
    package struct Rights: Sendable {
        /// SQL that reaches files: `ATTACH`, `VACUUM INTO`.
        var allowsFiles: Bool
        /// `close()`: for databases that the script has opened itself.
        var allowsClosing: Bool
        /// Whether SQL that opens other files is refused, even if files are allowed.
        var isPreview = false
        /// Whether it can only be read, in the transaction that its connection is in.
        var isSnapshot = false
        /// What its connections load.
        var extensions = SQLiteExtensions.none
        /// Whether a transaction that SQL begins stays open between calls. Its GRDB configuration must allow unsafe transactions.
        var keepsTransactions = false
    }

    private init(_ writer: any DatabaseWriter, _ rights: Rights) {
        self.writer = writer
        isOwn = rights.allowsClosing
        isSnapshot = rights.isSnapshot
        // A pool would read on other connections.
        keepsTransactions = rights.keepsTransactions && writer is DatabaseQueue && ClusterDatabase.of(writer) == nil
        extensions = rights.extensions
        cluster = ClusterDatabase.of(writer)
        clusterLoads = cluster?.loads ?? 0
        turns = ConnectionTurns.of(writer)
        statementReader = (writer as? DatabasePool).map { [turns] in StatementReader($0, turns) }
        leftover = .allocate(capacity: 1)
        leftover.initialize(to: pdb_release_list())
    }

    deinit {
        // Nothing else knows the list and the reader any more.
        nonisolated(unsafe) let list = leftover.pointee, reader = statementReader
        leftover.deallocate()
        guard !isClosed, list.count > 0 else {
            Self.release(list)
            reader?.close {}
            return
        }
        // This waits for the accesses that use the connections now, which may need the threads of Swift's concurrency to end: one of these
        // must not wait without end.
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [writer, isOwn] in
            writer.unsafeReentrantWriteOnQueue { _ in Self.release(list) }
            reader?.close {}
            // Not by letting go of it, which this thread may do later than the other.
            if isOwn { try? writer.close() }
            isDone.signal()
        }
        _ = isDone.wait(timeout: .now() + 1)
    }

    /// Makes the value through which scripts use a database. The value keeps the database.
    package static func makeValue(
        for writer: any DatabaseWriter, rights: Rights, in state: LuaState
    ) throws -> (database: ScriptDatabase, value: LuaValue) {
        let database = ScriptDatabase(writer, rights)
        var flags: UInt32 = 0
        if rights.allowsFiles { flags |= UInt32(PDB_DATABASE_FILES) }
        if rights.allowsClosing { flags |= UInt32(PDB_DATABASE_CLOSABLE) }
        if rights.isPreview { flags |= UInt32(PDB_DATABASE_PREVIEW) }
        if rights.isSnapshot { flags |= UInt32(PDB_DATABASE_SNAPSHOT) }
        if writer is DatabasePool { flags |= UInt32(PDB_DATABASE_POOL) }
        let path = filePath(of: writer) ?? ""
        let value = try state.makeValue { L in
            pdb_push_database(
                L, Unmanaged.passRetained(database).toOpaque(), database.leftover, flags,
                database.cluster?.address.description ?? path)
            if let cluster = database.cluster {
                var remote = cluster.remote
                pdb_set_remote(pdb_database_at(L, -1), &remote)
            }
        }
        return (database, value)
    }

    /// Returns the path of a database's file as scripts know it; `nil` for a database in memory.
    static func filePath(of writer: any DatabaseWriter) -> String? {
        let path = SQLEnvironment.plainPath(of: writer.path)
        return isInMemory(path) ? nil : path
    }

    /// Whether a path is SQLite's name for a database in memory, or a URI that asks for one.
    private static func isInMemory(_ path: String) -> Bool {
        path.isEmpty || path == ":memory:" || path.hasPrefix("file::memory:") || path.contains("mode=memory")
    }

    static func of(_ database: OpaquePointer) -> ScriptDatabase {
        Unmanaged<ScriptDatabase>.fromOpaque(pdb_database_owner(database)).takeUnretainedValue()
    }

    func requireOpen() throws {
        if isClosed { throw BindingError("closed", "the database is closed") }
    }

    /// Runs what opens an access. Nothing may do so while another one is opened or ended, for which GRDB would stop the
    /// process; callbacks like a trace function come here then.
    ///
    /// - Parameters:
    ///   - use: The connection that is needed. Waiting for it ends with the run.
    ///   - reason: Why nothing else may, for messages.
    func entering<Result>(
        _ use: ConnectionTurns.Use = .writing, _ reason: String = "a transaction is beginning or ending", _ body: () throws -> Result
    ) throws -> Result {
        if let enteredFor { throw BindingError("nested_access", "the database is in use: \(enteredFor)") }
        enteredFor = reason
        defer { enteredFor = nil }
        return try turns.taking(use, in: writer, body)
    }

    /// Has a connection that waits for locks by SQLite's own timeout end such a wait with the run.
    func makeWaitsCancellable(_ db: Database) {
        guard cancellablyWaiting != db.sqliteConnection else { return }
        cancellablyWaiting = db.sqliteConnection
        guard case .timeout(let seconds) = db.configuration.busyMode else { return }
        _ = psql_wait_cancellably(db.sqliteConnection, CInt(clamping: Int(seconds * 1000)), plua_is_run_cancelled)
    }

    /// Has an observer end with the database.
    func add(_ observer: ValueObserver) {
        valueObservers.removeAll { $0.observer?.isEnded != false }
        valueObservers.append(WeakObserver(observer: observer))
        observer.onRetire = { [weak self] retired in self?.retired.append(retired) }
    }

    /// Removes what observers that have ended have left, from the connection that writes.
    func removeRetired(from db: Database) {
        for observer in retired { db.remove(transactionObserver: observer) }
        retired = []
    }

    /// Closes the database. No access may be open.
    func close() throws {
        for item in valueObservers { item.observer?.end() }
        writer.unsafeReentrantWriteOnQueue { _ in releaseLeftover() }
        closeReader()
        // The last connection to be closed empties the log and removes it: not one that only reads, as GRDB has it.
        (writer as? DatabasePool)?.invalidateReadOnlyConnections()
        try writer.close()
        isClosed = true
    }

    /// Lets no script use the database any more, which others will close.
    func abandon() {
        writer.unsafeReentrantWriteOnQueue { _ in releaseLeftover() }
        closeReader()
        isClosed = true
    }

    /// Closes the connection for single statements, which no statement uses any more; the next one opens it anew.
    func closeReader() {
        statementReader?.close { releaseLeftover() }
    }

    func interrupt() {
        writer.interrupt()
        statementReader?.interrupt()
    }

    /// Releases statements. On the database's queue, or when it is closed.
    func releaseLeftover() {
        guard leftover.pointee.count > 0 else { return }
        let list = leftover.pointee
        leftover.pointee = pdb_release_list()
        Self.release(list)
    }

    private static func release(_ list: pdb_release_list) {
        for index in 0..<list.count { Unmanaged<AnyObject>.fromOpaque(list.objects[index]!).release() }
        plua_free(list.objects)
    }
}

extension DatabaseWriter {
    /// Runs a closure while no connection is in use.
    fileprivate func unsafeReentrantWriteOnQueue(_ body: (Database) -> Void) {
        // A barrier on a pool waits for its readers, whose statements may be among those that are released.
        if let pool = self as? DatabasePool {
            try? pool.barrierWriteWithoutTransaction { body($0) }
        } else {
            unsafeReentrantWrite { body($0) }
        }
    }
}
