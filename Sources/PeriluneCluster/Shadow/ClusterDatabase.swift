internal import CPeriluneCluster
internal import Foundation
internal import GRDB
internal import GRDBSQLite
internal import PeriluneRecords

/// A cluster database and its local shadow, an in-memory database with the same schema but no rows. Statements are compiled on the
/// shadow, where SQLite detects mistakes, and run in the cluster.
///
/// `@unchecked Sendable`: all members except `address` are used only on the database's queue.
final class ClusterDatabase: DatabasePlace, @unchecked Sendable {
    let address: String?
    let link: PlaceLink?
    private let isReadonly: Bool
    let session: any RemoteSession
    private(set) var loads = 0

    /// Connects to the cluster and loads the schema.
    ///
    /// - Returns: The shadow, which is used like any other database.
    /// - Throws: ``ClusterFailure``.
    static func open(
        _ address: ClusterAddress, timeout: Duration, configuration: Configuration = Configuration(),
        isCancelled: @escaping () -> Bool = { false }
    ) throws -> DatabaseQueue {
        let isReadonly = configuration.readonly
        var configuration = configuration
        configuration.readonly = false
        configuration.journalMode = .default
        let queue = try DatabaseQueue(configuration: configuration)
        let session = ClusterSession(address, timeout: timeout)
        session.isCancelled = isCancelled
        let database = ClusterDatabase(address.description, session, isReadonly: isReadonly)
        try queue.writeWithoutTransaction { db in
            try database.begin(db)
            DatabasePlaces.add(database, of: queue, db)
        }
        return queue
    }

    private init(_ address: String, _ session: any RemoteSession, isReadonly: Bool) {
        (self.address, self.session, self.isReadonly) = (address, session, isReadonly)
        // The link contains pointers into the session, which outlives all statements that use the link.
        link = PlaceLink(
            changes: session.changes, failuresAhead: session.failuresAhead,
            expect: { [unowned session] changes, rowID in session.expect(changes: changes, rowID: rowID) },
            settle: { [unowned session] in session.hasSettledAhead() })
    }

    private func begin(_ db: Database) throws {
        let handle = db.sqliteConnection!
        sqlite3_limit(handle, SQLITE_LIMIT_VARIABLE_NUMBER, CInt(PCL_MOST_PARAMETERS))
        session.local = LocalConnection(
            transaction: { Self.transaction(on: handle) }, enforcesForeignKeys: { Self.enforcesForeignKeys(handle) },
            noteInsertion: { sqlite3_set_last_insert_rowid(handle, $0) })
        try load(into: db)
        db.add(transactionObserver: TransactionMirror(self), extent: .databaseLifetime)
    }

    private static func transaction(on connection: OpaquePointer) -> TransactionKind? {
        if sqlite3_get_autocommit(connection) != 0 { return nil }
        return sqlite3_txn_state(connection, "main") == SQLITE_TXN_WRITE ? .immediate : .deferred
    }

    private static func enforcesForeignKeys(_ connection: OpaquePointer) -> Bool {
        var isEnforced: CInt = 0
        pcl_enforces_foreign_keys(connection, &isEnforced)
        return isEnforced != 0
    }

    // MARK: - The schema

    /// Loads the schema again. The connection must have no running statement and no open transaction.
    func load(into db: Database) throws {
        try ShadowSchema(session: session).load(into: db)
        loads += 1
    }

    /// Whether another client is known to have changed the schema since it was loaded.
    var isOutdated: Bool { session.isSchemaOutdated }

    // MARK: - Statements

    func compiling<Result>(on db: Database, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            // Other clients cannot change the schema during a transaction.
            guard session.local.transaction() == nil, case .none = session.transaction, (try? session.checkSchema()) != nil,
                isOutdated,
                (try? load(into: db)) != nil
            else { throw error }
            return try body()
        }
    }

    func place(_ statement: Statement, in db: Database) throws -> any PlacedStatement {
        let handle = statement.sqliteStatement
        let text = try RemoteText(String(cString: sqlite3_sql(handle)), handle)
        if isReadonly, text.writes {
            throw DatabaseError(resultCode: .SQLITE_READONLY, message: "attempt to write a readonly database")
        }
        switch text {
        case .control, .schema: return MirroredStatement(statement: statement, text: text, session: session)
        case .reading(let sql):
            return CarriedStatement(carrier: try Carrier(sql, isReading: true, for: handle, by: session, in: db))
        case .changing(let sql):
            return CarriedStatement(carrier: try Carrier(sql, isReading: false, for: handle, by: session, in: db))
        }
    }

    func changesCount(of db: Database) -> Int { Int(session.changes.pointee) }

    /// Ends an access. Rolls back a transaction that is still open in the cluster.
    func endAccess() { session.rollBack() }

    func beginRemotely(_ kind: TransactionKind) throws { try session.begin(isReadonly ? .deferred : kind) }

    /// Runs a closure, and converts an SQLite error from a node to a local SQLite error.
    static func asDatabaseErrors<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as RemoteError {
            throw DatabaseError(resultCode: ResultCode(rawValue: CInt(truncatingIfNeeded: error.code)), message: error.message)
        } catch is ConnectionFailure {
            throw ClusterFailure(.moved, "the connection to the cluster was lost")
        }
    }
}

/// A transaction observer that commits or rolls back in the cluster when the local transaction ends.
private final class TransactionMirror: TransactionObserver {
    /// The database, which exists as long as the connection that owns this observer.
    private let database: ClusterDatabase
    private var session: any RemoteSession { database.session }

    init(_ database: ClusterDatabase) { self.database = database }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseWillCommit() throws { try session.commit() }
    func databaseDidCommit(_ db: Database) {}
    func databaseDidRollback(_ db: Database) { session.rollBack() }
}
