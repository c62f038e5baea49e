internal import CPeriluneRows
internal import GRDB
internal import PeriluneLua

/// Tells the hub of a connection, which calls the observers of scripts, of the ends of its transactions.
///
/// GRDB has it as long as scripts observe the connection. Of changes it hears only inside of savepoints that Swift has opened: the hub
/// has a hook of its own, which knows their values.
final class TransactionRelay: TransactionObserver {
    /// Owned.
    private let hub: OpaquePointer
    private let savepoints: OpenSavepoints?

    private init(_ hub: OpaquePointer, _ db: Database) {
        self.hub = hub
        savepoints = OpenSavepoints(on: db)
    }

    deinit {
        pdb_observers_end(hub)
    }

    /// Has GRDB tell a hub.
    ///
    /// - Returns: What ``remove(_:from:)`` is given.
    static func add(_ hub: OpaquePointer, to db: Database) -> UnsafeMutableRawPointer {
        let relay = TransactionRelay(hub, db)
        db.add(transactionObserver: relay, extent: .databaseLifetime)
        return Unmanaged.passUnretained(relay).toOpaque()
    }

    /// Has GRDB tell it no more, which ends the hub.
    static func remove(_ relay: UnsafeMutableRawPointer, from db: Database) {
        db.remove(transactionObserver: Unmanaged<TransactionRelay>.fromOpaque(relay).takeUnretainedValue())
    }

    /// Asked before each statement, and while one is compiled.
    func observes(eventsOfKind kind: DatabaseEventKind) -> Bool {
        if kind.tableName.hasPrefix("sqlite_") { pdb_observers_forget_tables(hub) }
        guard pdb_observers_is_hooked(hub) else { return false }
        let isDeferred = (savepoints?.count ?? 0) > pdb_observers_savepoint_count(hub)
        pdb_observers_defer(hub, isDeferred)
        return isDeferred && pdb_observers_wants(hub, kind.tableName, kind.code)
    }

    func databaseDidChange(with event: DatabaseEvent) {
        pdb_observers_tell_later(hub, event.kind.code, event.databaseName, event.tableName, event.rowID)
    }

    func databaseWillCommit() throws {
        let status = pdb_observers_will_commit(hub)
        guard status == LUA_OK else { throw Self.takeError(status) }
    }

    func databaseDidCommit(_ db: Database) {
        pdb_observers_did_end(hub, true)
        if pdb_observers_prune(hub) { db.remove(transactionObserver: self) }
    }

    func databaseDidRollback(_ db: Database) {
        pdb_observers_did_end(hub, false)
        if pdb_observers_prune(hub) { db.remove(transactionObserver: self) }
    }

    /// What an observer has raised: it comes out of the transaction as itself, in Swift and in Lua.
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

    /// SQLite's code.
    fileprivate var code: CInt {
        switch self {
        case .insert: SQLITE_INSERT
        case .delete: SQLITE_DELETE
        case .update: SQLITE_UPDATE
        }
    }
}

extension DatabaseEvent.Kind {
    /// SQLite's code.
    fileprivate var code: CInt { rawValue }
}
