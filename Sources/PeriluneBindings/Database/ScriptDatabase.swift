internal import CPeriluneRows
internal import CPeriluneShim
internal import CPeriluneSQLite
internal import Foundation
package import GRDB
package import PeriluneLua
package import PeriluneRecords

/// A database that one Lua state uses.
///
/// GRDB owns the connections, transactions and statements. The row path, which is written in C, calls ``DatabaseCallbacks`` to open
/// accesses and to prepare and run statements. These callbacks first check every condition that would make GRDB crash the process.
package final class ScriptDatabase {
    let writer: any DatabaseWriter
    /// The queue of scripts that wait for the database's connections.
    let turns: ConnectionTurns
    /// The connection whose waits for locks end when the run must end.
    private var cancellablyWaiting: SQLiteConnection?
    /// The reader for single statements; `nil` if the database is not a pool.
    let statementReader: StatementReader?
    private(set) var isClosed = false
    /// The part of the schema that has been loaded.
    var schema = DatabaseSchema(generation: 0)
    /// The cache of compiled requests.
    let requestPlans = PlanCache()
    /// The Lua tables that describe the database's tables, by folded name, with the ids of the schemas from which they were
    /// created.
    var schemaTables: [String: (id: UInt32, table: LuaTable)] = [:]
    /// The reason why no access can be opened at present, for error messages; `nil` if an access can be opened.
    private var enteredFor: String?
    /// Whether the script opened the database, which means that this object is the only user.
    private let isOwn: Bool
    /// The extensions that each connection loads before its first use.
    let extensions: SQLiteExtensions
    /// The place where statements run: this process or a cluster.
    package let place: any DatabasePlace
    /// The number of times that ``place`` had loaded its schema when statements were last compiled.
    var knownLoads: Int
    /// Whether the database is a snapshot of another database; see ``DatabaseSnapshots``.
    let isSnapshot: Bool
    /// Whether a transaction started by SQL stays open between calls until SQL ends it.
    let keepsTransactions: Bool
    /// Row-path statements that were released outside an access. They must be finalized on the database's queue.
    private let leftover: UnsafeMutablePointer<pdb_release_list>
    /// The observers of values in the database.
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
        /// Whether the script may call `close()`, which it may for databases that it opened.
        var allowsClosing: Bool
        /// Whether the script runs in a preview, where SQL cannot open other files even if files are allowed.
        var isPreview = false
        /// Whether the database is a snapshot: it is read-only, and its connection keeps a transaction open.
        var isSnapshot = false
        /// The extensions that each connection loads.
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
        // Excludes pools, because they would read on other connections than the one with the open transaction.
        keepsTransactions = rights.keepsTransactions && writer is DatabaseQueue && isHere
        knownLoads = place.loads
        turns = ConnectionTurns.of(writer)
        statementReader = (writer as? DatabasePool).map { [turns] in StatementReader($0, turns) }
        leftover = .allocate(capacity: 1)
        leftover.initialize(to: pdb_release_list())
    }

    deinit {
        // No other references to the list and the reader exist at this point.
        nonisolated(unsafe) let list = leftover.pointee, reader = statementReader
        leftover.deallocate()
        guard !isClosed, list.count > 0 else {
            Self.release(list)
            reader?.close {}
            if isOwn { writer.closeReaders() }
            return
        }
        // Releasing the statements waits for running accesses, which may need the threads of Swift concurrency. The deinitializer
        // may run on such a thread, so it must not wait indefinitely.
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [writer, isOwn] in
            writer.unsafeReentrantWriteOnQueue { _ in Self.release(list) }
            reader?.close {}
            // Close explicitly, because this thread may still hold the last reference when the waiting thread continues.
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

    /// The path of the file, SQLite's name for an in-memory database, or the database's address in a cluster.
    var path: String { place.address ?? SQLEnvironment.plainPath(of: writer.path) }

    /// Returns the path of the database file without URI parameters, or `nil` for an in-memory database.
    static func filePath(of writer: any DatabaseWriter) -> String? {
        let path = SQLEnvironment.plainPath(of: writer.path)
        return isInMemory(path) ? nil : path
    }

    /// Returns whether a path is SQLite's name or URI for an in-memory database.
    private static func isInMemory(_ path: String) -> Bool {
        path.isEmpty || path == ":memory:" || path.hasPrefix("file::memory:") || path.contains("mode=memory")
    }

    static func of(_ database: OpaquePointer) -> ScriptDatabase {
        Unmanaged<ScriptDatabase>.fromOpaque(pdb_database_owner(database)).takeUnretainedValue()
    }

    func requireOpen() throws {
        if isClosed { throw BindingError("closed", "the database is closed") }
    }

    /// Runs a closure that opens an access. During the closure, this state cannot open another access, because GRDB would crash the
    /// process. Callbacks such as trace functions may attempt this.
    ///
    /// - Parameters:
    ///   - use: The required connection. The wait for it ends if the run must end.
    ///   - reason: The reason why other accesses are excluded, for error messages.
    func entering<Result>(
        _ use: ConnectionTurns.Use = .writing, _ reason: String = "a transaction is beginning or ending",
        _ body: () throws -> Result
    ) throws -> Result {
        if let enteredFor { throw BindingError("nested_access", "the database is in use: \(enteredFor)") }
        enteredFor = reason
        defer { enteredFor = nil }
        return try turns.taking(use, in: writer, body)
    }

    /// Makes waits for locks end when the run must end, on a connection that would otherwise use SQLite's uninterruptible timeout.
    func makeWaitsCancellable(_ db: Database) {
        guard cancellablyWaiting != db.sqliteConnection else { return }
        cancellablyWaiting = db.sqliteConnection
        guard case .timeout(let seconds) = db.configuration.busyMode else { return }
        _ = psql_wait_cancellably(db.sqliteConnection, CInt(clamping: Int(seconds * 1000)), plua_is_run_cancelled)
    }

    /// Adds an observer, which ends when the database is closed.
    func add(_ observer: any DatabaseValueObserver) {
        valueObservers.removeAll { $0.observer?.isEnded != false }
        valueObservers.append(WeakObserver(observer: observer))
        observer.onRetire = { [weak self] retired in self?.retired.append(retired) }
    }

    /// Removes the transaction observers of ended value observers from the writer.
    func removeRetired(from db: Database) {
        for observer in retired { db.remove(transactionObserver: observer) }
        retired = []
    }

    /// Closes the database, which must have no open access.
    func close() throws {
        for item in valueObservers { item.observer?.end() }
        writer.unsafeReentrantWriteOnQueue { _ in releaseLeftover() }
        closeReader()
        try writer.closeWithReaders()
        isClosed = true
    }

    /// Marks the database as closed for scripts. The owner of the writer closes it later.
    func abandon() {
        writer.unsafeReentrantWriteOnQueue { _ in releaseLeftover() }
        closeReader()
        isClosed = true
    }

    /// Closes the reader for single statements, which must not be in use. The next statement opens it again.
    func closeReader() {
        statementReader?.close { releaseLeftover() }
    }

    func interrupt() {
        writer.interrupt()
        statementReader?.interrupt()
    }

    /// Finalizes the statements in ``leftover``. Called on the database's queue, or when the database is closed.
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
    /// Runs a closure on the writer while no other connection is in use.
    fileprivate func unsafeReentrantWriteOnQueue(_ body: (Database) -> Void) {
        // The barrier waits for the pool's readers, which may be using the statements that the closure releases.
        if let pool = self as? DatabasePool {
            try? pool.barrierWriteWithoutTransaction { body($0) }
        } else {
            unsafeReentrantWrite { body($0) }
        }
    }
}

/// An observer of values in a database. It ends when the database is closed.
protocol DatabaseValueObserver: AnyObject {
    var isEnded: Bool { get }
    /// Called with a transaction observer that must be removed from the connection, because GRDB would keep it until after the next
    /// transaction.
    var onRetire: ((any TransactionObserver) -> Void)? { get set }
    func end()
}
