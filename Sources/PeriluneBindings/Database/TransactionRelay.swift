internal import CPeriluneRows
internal import GRDB
internal import PeriluneLua

/// A relay that notifies the row path's observers of a connection when transactions end.
///
/// GRDB retains the relay as long as scripts observe the connection. The relay receives changes only inside savepoints opened by
/// Swift. All other changes reach the observers through an SQLite hook, which also provides the changed values.
final class TransactionRelay: TransactionObserver {
    /// The row path's observers, which this object owns.
    private let observers: OpaquePointer
    private let savepoints: OpenSavepoints?

    private init(_ observers: OpaquePointer, _ db: Database) {
        self.observers = observers
        savepoints = OpenSavepoints(on: db)
    }

    deinit {
        pdb_observers_end(observers)
    }

    /// Registers the observers of a connection with GRDB.
    ///
    /// - Returns: The argument for ``remove(_:from:)``.
    static func add(_ observers: OpaquePointer, to db: Database) -> UnsafeMutableRawPointer {
        let relay = TransactionRelay(observers, db)
        db.add(transactionObserver: relay, extent: .databaseLifetime)
        return Unmanaged.passUnretained(relay).toOpaque()
    }

    /// Unregisters the relay from GRDB, which ends the observers.
    static func remove(_ relay: UnsafeMutableRawPointer, from db: Database) {
        db.remove(transactionObserver: Unmanaged<TransactionRelay>.fromOpaque(relay).takeUnretainedValue())
    }

    /// Called when a statement is compiled and before it runs.
    func observes(eventsOfKind kind: DatabaseEventKind) -> Bool {
        if kind.tableName.hasPrefix("sqlite_") { pdb_observers_forget_tables(observers) }
        guard pdb_observers_is_hooked(observers) else { return false }
        let isDeferred = (savepoints?.count ?? 0) > pdb_observers_savepoint_count(observers)
        pdb_observers_defer(observers, isDeferred)
        return isDeferred && pdb_observers_wants(observers, kind.tableName, kind.code)
    }

    func databaseDidChange(with event: DatabaseEvent) {
        pdb_observers_notify_later(observers, event.kind.code, event.databaseName, event.tableName, event.rowID)
    }

    func databaseWillCommit() throws {
        let status = pdb_observers_will_commit(observers)
        guard status == LUA_OK else { throw Self.takeError(status) }
    }

    func databaseDidCommit(_ db: Database) {
        pdb_observers_did_end(observers, true)
        if pdb_observers_prune(observers) { db.remove(transactionObserver: self) }
    }

    func databaseDidRollback(_ db: Database) {
        pdb_observers_did_end(observers, false)
        if pdb_observers_prune(observers) { db.remove(transactionObserver: self) }
    }

    /// Returns the error that an observer raised. The transaction throws it unchanged to Swift and Lua.
    private static func takeError(_ status: CInt) -> LuaError {
        let L = plua_running_context().pointee.running!
        let core = LuaCore.of(L)
        return core.entering(L) { core.takeError(status: status) }
    }
}

extension DatabaseEventKind {
    var tableName: String {
        switch self {
        case .insert(let name), .delete(let name), .update(let name, _): name
        }
    }

    /// The SQLite action code.
    fileprivate var code: CInt {
        switch self {
        case .insert: SQLITE_INSERT
        case .delete: SQLITE_DELETE
        case .update: SQLITE_UPDATE
        }
    }
}

extension DatabaseEvent.Kind {
    /// The SQLite action code.
    fileprivate var code: CInt { rawValue }
}
