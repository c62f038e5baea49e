internal import CPeriluneRows
internal import GRDB
package import PeriluneLua
package import PeriluneRecords

/// The functions that a ``DatabasePlace`` calls during an access.
extension AccessRunner: PlaceClient {
    var isStatement: Bool {
        switch request.pointee.mode {
        case PDB_READ_STATEMENT, PDB_WRITE_STATEMENT, PDB_WITHOUT_TRANSACTION: true
        default: false
        }
    }

    var knownLoads: Int {
        get { database.knownLoads }
        nonmutating set { database.knownLoads = newValue }
    }

    static func isCancelled() -> Bool { plua_is_run_cancelled() }

    func keep(_ failure: ClusterFailure) { DatabaseCallbacks.keep(failure, on: request.pointee.L) }

    func forgetStatements(of db: Database) {
        pdb_forget_connection(request.pointee.L, request.pointee.database, db.sqliteConnection)
        pdb_forget_schema(request.pointee.database)
        database.releaseLeftover()
        pdb_reset_running_statements(db.sqliteConnection)
    }
}

extension pdb_remote {
    /// Creates the row-path callbacks for statements that run elsewhere. The database retains the place, which retains the link.
    init(_ link: PlaceLink) {
        self.init(
            context: Unmanaged.passUnretained(link).toOpaque(), change_count: link.changes,
            expect: { context, changes, rowID in pdb_remote.link(context).expect(changes, rowID?.pointee) },
            settle: { pdb_remote.link($0).settle() }, failure_count: link.failuresAhead)
    }

    private static func link(_ context: UnsafeMutableRawPointer?) -> PlaceLink {
        Unmanaged<PlaceLink>.fromOpaque(context!).takeUnretainedValue()
    }
}

extension ScriptDatabase {
    /// Rejects an operation that cannot run in a cluster.
    ///
    /// - Parameter message: Explains the reason and names an alternative.
    package func refuseInCluster(_ message: @autoclosure () -> String) throws {
        try place.refuse(ClusterFailure(.refused, message()))
    }
}

extension ClusterFailure: LuaErrorDescribing {
    package var luaKind: String { kind.rawValue }
    package var luaMessage: String { message }
    package var luaFields: [String: ScriptValue] { [:] }
}
