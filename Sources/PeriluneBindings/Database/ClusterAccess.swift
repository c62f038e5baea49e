internal import CPeriluneRows
internal import GRDB
package import PeriluneCluster
package import PeriluneLua

/// An access to a cluster database. It starts with the current schema of the cluster and leaves nothing open there.
struct ClusterAccess {
    private let cluster: ClusterDatabase
    private let request: UnsafeMutablePointer<pdb_access_request>
    private let database: ScriptDatabase

    init(_ cluster: ClusterDatabase, _ request: UnsafeMutablePointer<pdb_access_request>, _ database: ScriptDatabase) {
        (self.cluster, self.request, self.database) = (cluster, request, database)
    }

    /// Runs an access on the local connection that represents the cluster.
    ///
    /// - Throws: Errors of the closure; ``ClusterFailure``.
    func run(_ db: Database, _ body: () throws -> Void) throws {
        let (session, L) = (cluster.session, request.pointee.L!)
        session.isCancelled = { plua_is_run_cancelled() }
        // The statement fails with an SQLite error, so the error for the script is stored.
        session.onFailure = { failure in DatabaseCallbacks.keep(failure, on: L) }
        defer {
            session.onFailure = { _ in }
            cluster.endAccess()
        }
        let mode = request.pointee.mode
        let isStatement = mode == PDB_READ_STATEMENT || mode == PDB_WRITE_STATEMENT || mode == PDB_WITHOUT_TRANSACTION
        if isStatement, session.wantsSchemaCheck { try telling { try session.checkSchema() } }
        try refresh(db)
        try telling(body)
    }

    /// Begins the transaction in the cluster before the local one, because no statement may be compiled with an outdated schema.
    func begin(_ kind: TransactionKind, _ db: Database) throws {
        try cluster.begin(kind)
        try refresh(db)
    }

    private func refresh(_ db: Database) throws {
        if cluster.isOutdated {
            forgetStatements(db)
            try cluster.load(into: db)
        } else if database.clusterLoads != cluster.loads {
            forgetStatements(db)
        }
        database.clusterLoads = cluster.loads
    }

    private func forgetStatements(_ db: Database) {
        pdb_forget_connection(request.pointee.L, request.pointee.database, db.sqliteConnection)
        pdb_forget_schema(request.pointee.database)
        database.releaseLeftover()
        pdb_reset_running_statements(db.sqliteConnection)
    }

    /// Runs a closure and converts cluster errors to SQLite errors, as scripts see them.
    private func telling(_ body: () throws -> Void) throws { try ClusterDatabase.asDatabaseErrors(body) }
}

extension ClusterDatabase {
    /// The cluster functions for the row path.
    var remote: pdb_remote {
        pdb_remote(
            context: Unmanaged.passUnretained(self).toOpaque(), change_count: session.changes,
            expect: { context, changes, rowID in
                ClusterDatabase.at(context).session.expect(changes: changes, rowID: rowID?.pointee)
            },
            settle: { ClusterDatabase.at($0).settleAhead() }, failure_count: session.failuresAhead)
    }

    private static func at(_ context: UnsafeMutableRawPointer?) -> ClusterDatabase {
        Unmanaged<ClusterDatabase>.fromOpaque(context!).takeUnretainedValue()
    }

    private func settleAhead() -> Bool {
        do {
            try session.settleAhead()
            return true
        } catch let failure as ClusterFailure {
            session.onFailure(failure)
        } catch {
            session.onFailure(ClusterFailure(.moved, "the connection to the cluster was lost"))
        }
        return false
    }
}

extension ClusterFailure: LuaErrorDescribing {
    package var luaKind: String { kind.rawValue }
    package var luaMessage: String { message }
    package var luaFields: [String: ScriptValue] { [:] }
}
