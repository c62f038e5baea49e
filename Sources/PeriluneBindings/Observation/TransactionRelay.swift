internal import CPeriluneRows
internal import GRDB
internal import PeriluneLua

/// Tells the hub of a connection, which calls the observers of scripts, of the ends of its transactions.
///
/// GRDB has it as long as scripts observe the connection. Of changes it hears nothing: the hub has a hook of its own, which knows
/// their values.
final class TransactionRelay: TransactionObserver {
    /// Owned.
    private let hub: OpaquePointer

    private init(_ hub: OpaquePointer) {
        self.hub = hub
    }

    deinit {
        perilune_hub_end(hub)
    }

    /// Has GRDB tell a hub.
    ///
    /// - Returns: What ``remove(_:from:)`` is given.
    static func add(_ hub: OpaquePointer, to db: Database) -> UnsafeMutableRawPointer {
        let relay = TransactionRelay(hub)
        db.add(transactionObserver: relay, extent: .databaseLifetime)
        return Unmanaged.passUnretained(relay).toOpaque()
    }

    /// Has GRDB tell it no more, which ends the hub.
    static func remove(_ relay: UnsafeMutableRawPointer, from db: Database) {
        db.remove(transactionObserver: Unmanaged<TransactionRelay>.fromOpaque(relay).takeUnretainedValue())
    }

    /// Asked before each statement, and while one is compiled.
    func observes(eventsOfKind kind: DatabaseEventKind) -> Bool {
        if kind.tableName.hasPrefix("sqlite_") { perilune_hub_forget_tables(hub) }
        return false
    }

    func databaseDidChange(with event: DatabaseEvent) {}

    func databaseWillCommit() throws {
        let status = perilune_hub_will_commit(hub)
        guard status == LUA_OK else { throw Self.takeError(status) }
    }

    func databaseDidCommit(_ db: Database) {
        perilune_hub_did_end(hub, true)
    }

    func databaseDidRollback(_ db: Database) {
        perilune_hub_did_end(hub, false)
    }

    /// What an observer has raised: it comes out of the transaction as itself, in Swift and in Lua.
    private static func takeError(_ status: CInt) -> LuaError {
        let L = perilune_running_context().pointee.running!
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
}
