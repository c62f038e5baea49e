internal import CPeriluneRows
internal import CPeriluneShim
internal import CPeriluneSQLite
internal import Foundation
package import GRDB
package import PeriluneLua
package import PeriluneRecords

/// A database as used by one Lua state.
///
/// Its connections, transactions and statements belong to GRDB. The row path in C uses the callbacks in ``DatabaseCallbacks`` to
/// open accesses and to prepare and run statements. Everything for which GRDB would crash the process is checked before.
package final class ScriptDatabase {
    let writer: any DatabaseWriter
    /// The queue of scripts that wait for its connections.
    let turns: ConnectionTurns
    /// The connection whose waits for locks end together with the run.
    private var cancellablyWaiting: SQLiteConnection?
    /// The reader for single statements, if the database is a pool.
    let statementReader: StatementReader?
    private(set) var isClosed = false
    /// The known part of the schema.
    var schema = DatabaseSchema(generation: 0)
    /// The compiled requests.
    let requestPlans = PlanCache()
    /// The Lua tables for its tables by folded name, with the ids of the schemas they were made from.
    var schemaTables: [String: (id: UInt32, table: LuaTable)] = [:]
    /// The reason why no access may be opened now: the state is inside one, or is opening or ending one.
    private var enteredFor: String?
    /// Whether the script has opened the database, so that this object is its only user.
    private let isOwn: Bool
    /// The extensions that its connections load before first use.
    let extensions: SQLiteExtensions
    /// Its place: this process or a cluster.
    package let place: any DatabasePlace
    /// The load count of the place's schema when statements were last compiled.
    var knownLoads: Int
    /// Whether it is a snapshot of another database; see ``DatabaseSnapshots``.
    let isSnapshot: Bool
    /// Whether a transaction started by SQL stays open between calls until SQL ends it.
    let keepsTransactions: Bool
    /// Row-path statements released outside of an access, to be finalized on the queue of the database.
    private let leftover: UnsafeMutablePointer<pdb_release_list>
    /// The observers of its values.
    private var valueObservers: [WeakObserver] = []
    /// The transaction observers of ended value observers.
    private var retired: [any TransactionObserver] = []

    private struct WeakObserver {
        weak var observer: (any DatabaseValueObserver)?
    }

    /// The rights of a script in a database beyond reading and writing.
    package struct Rights: Sendable {
        /// Whether SQL may access files: `ATTACH`, `VACUUM INTO`.
        var allowsFiles: Bool
        /// Whether `close()` is allowed, as for databases opened by the script itself.
        var allowsClosing: Bool
        /// Whether SQL that opens other files is rejected even if files are allowed.
        var isPreview = false
        /// Whether the database is read-only, in the transaction that its connection has open.
        var isSnapshot = false
        /// The extensions that its connections load.
        var extensions = SQLiteExtensions.none
        /// Whether a transaction started by SQL stays open between calls. The GRDB configuration must allow unsafe transactions.
        var keepsTransactions = false
    }

    private init(_ writer: any DatabaseWriter, _ rights: Rights) {
        self.writer = writer
        isOwn = rights.allowsClosing
        isSnapshot = rights.isSnapshot
        place = DatabasePlaces.of(writer)
        let isHere = place.address == nil
        extensions = isHere ? rights.extensions : .none
        // A pool would read on other connections.
        keepsTransactions = rights.keepsTransactions && writer is DatabaseQueue && isHere
        knownLoads = place.loads
        turns = ConnectionTurns.of(writer)
        statementReader = (writer as? DatabasePool).map { [turns] in StatementReader($0, turns) }
        leftover = .allocate(capacity: 1)
        leftover.initialize(to: pdb_release_list())
    }

    deinit {
        // Nothing else refers to the list and the reader any more.
        nonisolated(unsafe) let list = leftover.pointee, reader = statementReader
        leftover.deallocate()
        guard !isClosed, list.count > 0 else {
            Self.release(list)
            reader?.close {}
            if isOwn { writer.closeReaders() }
            return
        }
        // This waits for running accesses, which may need the threads of Swift concurrency. Therefore such a thread must not wait
        // indefinitely.
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [writer, isOwn] in
            writer.unsafeReentrantWriteOnQueue { _ in Self.release(list) }
            reader?.close {}
            // Close explicitly, because this thread may release the last reference later than the waiting one.
            if isOwn { try? writer.closeWithReaders() }
            isDone.signal()
        }
        _ = isDone.wait(timeout: .now() + 1)
    }

    /// Creates the Lua value for a database. The value keeps the database alive.
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
                database.place.address ?? path)
            if let link = database.place.link {
                var remote = pdb_remote(link)
                pdb_set_remote(pdb_database_at(L, -1), &remote)
            }
        }
        return (database, value)
    }

    /// The path of the file, SQLite's name of a database in memory, or the address in a cluster.
    var path: String { place.address ?? SQLEnvironment.plainPath(of: writer.path) }

    /// Returns the path of a database's file as scripts know it; `nil` for a database in memory.
    static func filePath(of writer: any DatabaseWriter) -> String? {
        let path = SQLEnvironment.plainPath(of: writer.path)
        return isInMemory(path) ? nil : path
    }

    /// Returns whether a path is SQLite's name or a URI for a database in memory.
    private static func isInMemory(_ path: String) -> Bool {
        path.isEmpty || path == ":memory:" || path.hasPrefix("file::memory:") || path.contains("mode=memory")
    }

    static func of(_ database: OpaquePointer) -> ScriptDatabase {
        Unmanaged<ScriptDatabase>.fromOpaque(pdb_database_owner(database)).takeUnretainedValue()
    }

    func requireOpen() throws {
        if isClosed { throw BindingError("closed", "the database is closed") }
    }

    /// Runs a closure that opens an access. While an access is being opened or ended, no other one can be opened, because GRDB
    /// would crash the process. Callbacks such as trace functions may try to.
    ///
    /// - Parameters:
    ///   - use: The required connection. Waiting for it ends together with the run.
    ///   - reason: The reason for excluding others, for messages.
    func entering<Result>(
        _ use: ConnectionTurns.Use = .writing, _ reason: String = "a transaction is beginning or ending",
        _ body: () throws -> Result
    ) throws -> Result {
        if let enteredFor { throw BindingError("nested_access", "the database is in use: \(enteredFor)") }
        enteredFor = reason
        defer { enteredFor = nil }
        return try turns.taking(use, in: writer, body)
    }

    /// Makes the lock waits of a connection with SQLite's own timeout end together with the run.
    func makeWaitsCancellable(_ db: Database) {
        guard cancellablyWaiting != db.sqliteConnection else { return }
        cancellablyWaiting = db.sqliteConnection
        guard case .timeout(let seconds) = db.configuration.busyMode else { return }
        _ = psql_wait_cancellably(db.sqliteConnection, CInt(clamping: Int(seconds * 1000)), plua_is_run_cancelled)
    }

    /// Adds an observer, which ends together with the database.
    func add(_ observer: any DatabaseValueObserver) {
        valueObservers.removeAll { $0.observer?.isEnded != false }
        valueObservers.append(WeakObserver(observer: observer))
        observer.onRetire = { [weak self] retired in self?.retired.append(retired) }
    }

    /// Removes the transaction observers of ended observers from the writer.
    func removeRetired(from db: Database) {
        for observer in retired { db.remove(transactionObserver: observer) }
        retired = []
    }

    /// Closes the database. No access may be open.
    func close() throws {
        for item in valueObservers { item.observer?.end() }
        writer.unsafeReentrantWriteOnQueue { _ in releaseLeftover() }
        closeReader()
        try writer.closeWithReaders()
        isClosed = true
    }

    /// Ends the use by scripts; the owner closes the database later.
    func abandon() {
        writer.unsafeReentrantWriteOnQueue { _ in releaseLeftover() }
        closeReader()
        isClosed = true
    }

    /// Closes the reader for single statements, which must not be in use. The next statement reopens it.
    func closeReader() {
        statementReader?.close { releaseLeftover() }
    }

    func interrupt() {
        writer.interrupt()
        statementReader?.interrupt()
    }

    /// Releases statements. Called on the queue of the database, or when it is closed.
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
        // A barrier on a pool waits for its readers, which may use the statements to be released.
        if let pool = self as? DatabasePool {
            try? pool.barrierWriteWithoutTransaction { body($0) }
        } else {
            unsafeReentrantWrite { body($0) }
        }
    }
}

/// An observer of values in a database, which ends together with the database.
protocol DatabaseValueObserver: AnyObject {
    var isEnded: Bool { get }
    /// Called with a transaction observer that must be removed from the connection. GRDB would remove it only after the next transaction.
    var onRetire: ((any TransactionObserver) -> Void)? { get set }
    func end()
}
