internal import CPeriluneCluster
internal import Foundation
package import GRDB
internal import GRDBSQLite
internal import Synchronization

/// A database in a cluster and its local shadow: a database in memory with the same schema and no rows. Statements are compiled on
/// the shadow, where SQLite reports mistakes, and run in the cluster.
///
/// `@unchecked Sendable`: everything but `address` is used on the queue only.
package final class ClusterDatabase: @unchecked Sendable {
    package let address: ClusterAddress
    private let isReadonly: Bool
    private weak var queue: DatabaseQueue?
    private weak var connection: Database?
    package let session: ClusterSession
    /// The number of times that the schema has been loaded. Statements compiled before the last load must be compiled again.
    package private(set) var loads = 0

    /// Connects and reads the schema.
    ///
    /// - Parameters:
    ///   - timeout: The time limit of the first connection, a statement, the start of a transaction, or a commit.
    ///   - configuration: The configuration of the shadow. A read-only one refuses writes.
    ///   - isCancelled: Whether the waiting script is to end.
    /// - Returns: The shadow, used like any database; ``of(_:)`` finds this object by it.
    /// - Throws: ``ClusterFailure``.
    package static func open(
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
        let database = ClusterDatabase(address, queue, session, isReadonly: isReadonly)
        try queue.writeWithoutTransaction { db in try database.begin(db) }
        registry.withLock { $0.add(database) }
        return queue
    }

    /// Connects to the database of a URL.
    ///
    /// - Throws: ``ClusterFailure``.
    package static func open(url: String, configuration: Configuration = Configuration()) throws -> DatabaseQueue {
        let address = try ClusterAddress(url: url)
        return try asDatabaseErrors {
            try open(address, timeout: address.timeout ?? ClusterAddress.usualTimeout, configuration: configuration)
        }
    }

    private init(_ address: ClusterAddress, _ queue: DatabaseQueue, _ session: ClusterSession, isReadonly: Bool) {
        (self.address, self.queue, self.session, self.isReadonly) = (address, queue, session, isReadonly)
    }

    private func begin(_ db: Database) throws {
        connection = db
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

    /// Reads the schema again. The connection must have no running statement and no transaction.
    package func load(into db: Database) throws {
        try ShadowSchema(session: session).load(into: db)
        loads += 1
    }

    /// Whether the local schema is known to be outdated.
    package var isOutdated: Bool { session.schema.isOutdated }

    // MARK: - Statements

    /// Compiles a statement locally, and again if it fails because another client has changed the schema.
    package func compiling<Result>(on db: Database, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            // Within a transaction the schema does not change.
            guard session.local.transaction() == nil, case .none = session.transaction, (try? session.checkSchema()) != nil,
                isOutdated,
                (try? load(into: db)) != nil
            else { throw error }
            return try body()
        }
    }

    /// The way a statement runs.
    package enum Compiled {
        /// Locally, and in the cluster through ``ClusterDatabase/run(_:_:)``.
        case here(RemoteText)
        /// Through a carrier.
        case carried(Carrier)
    }

    /// Prepares a locally compiled statement for the cluster.
    ///
    /// - Throws: ``ClusterFailure`` of kind `refused`.
    package func compile(_ statement: Statement, in db: Database) throws -> Compiled {
        let handle = statement.sqliteStatement
        let text = try RemoteText(String(cString: sqlite3_sql(handle)), handle)
        if isReadonly, text.writes {
            throw DatabaseError(resultCode: .SQLITE_READONLY, message: "attempt to write a readonly database")
        }
        switch text {
        case .control, .schema: return .here(text)
        case .reading(let sql): return .carried(try Carrier(sql, isReading: true, for: handle, by: session, in: db))
        case .changing(let sql): return .carried(try Carrier(sql, isReading: false, for: handle, by: session, in: db))
        }
    }

    /// Compiles SQL of a Swift program into a statement that runs in the cluster. `Prepared` owns the carrier.
    ///
    /// - Throws: ``ClusterFailure``; an error of SQLite.
    package func prepare(_ sql: String, in db: Database) throws -> Prepared {
        let statement = try db.makeStatement(sql: sql)
        switch try compile(statement, in: db) {
        case .here(let text): return Prepared(statement: statement, carrier: nil, text: text, cluster: self)
        case .carried(let carrier): return Prepared(statement: carrier.statement, carrier: carrier, text: nil, cluster: self)
        }
    }

    /// A statement that runs in the cluster.
    package final class Prepared {
        package let statement: Statement
        package let carrier: Carrier?
        private let text: RemoteText?
        private let cluster: ClusterDatabase

        init(statement: Statement, carrier: Carrier?, text: RemoteText?, cluster: ClusterDatabase) {
            (self.statement, self.carrier, self.text, self.cluster) = (statement, carrier, text, cluster)
        }

        /// Whether the statement changes nothing.
        package var isReading: Bool { carrier?.remote.isReading ?? false }

        /// Executes a statement that returns no rows.
        package func execute(_ arguments: StatementArguments = StatementArguments()) throws {
            guard let text else { return try statement.execute(arguments: arguments) }
            try cluster.run(text, statement.sql) { try statement.execute(arguments: arguments) }
        }
    }

    /// Runs a local statement in the cluster, too.
    ///
    /// - Parameters:
    ///   - text: The result of ``compile(_:in:)``.
    ///   - body: Runs it locally.
    package func run(_ text: RemoteText, _ sql: String, _ body: () throws -> Void) throws {
        if case .schema(let sql) = text {
            try session.execute(sql, changesSchema: true)
            return try body()
        }
        try body()
        // BEGIN is sent with the next statement. COMMIT and ROLLBACK come from the observer.
        let word = StatementScan(sql).words
        let isSavepoint = ["SAVEPOINT", "RELEASE"].contains(word.first) || (word.first == "ROLLBACK" && word.contains("TO"))
        if isSavepoint, session.local.transaction() != nil { try session.execute(sql, changesSchema: false) }
    }

    /// Runs a closure in a savepoint of the cluster.
    package func inSavepoint(_ body: (_ ending: (Database.TransactionCompletion) throws -> Void) throws -> Void) throws {
        try session.execute("SAVEPOINT perilune_savepoint", changesSchema: false)
        var hasEnded = false
        func end(_ completion: Database.TransactionCompletion) throws {
            let undoing = completion == .commit ? "" : "ROLLBACK TO perilune_savepoint; "
            hasEnded = true
            try session.execute(undoing + "RELEASE perilune_savepoint", changesSchema: false)
        }
        do {
            try body(end)
        } catch {
            if !hasEnded, case .open = session.transaction { try? end(.rollback) }
            throw error
        }
    }

    // MARK: - Accesses

    /// Begins a transaction in the cluster before the local one begins.
    ///
    /// - Throws: ``ClusterFailure``.
    package func begin(_ kind: TransactionKind) throws { try session.begin(isReadonly ? .deferred : kind) }

    /// Rolls back a transaction that is still open in the cluster after an access.
    package func endAccess() { session.rollBack() }

    /// Runs a closure and throws an SQLite error of a node as a local SQLite error.
    package static func asDatabaseErrors<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as RemoteError {
            throw DatabaseError(resultCode: ResultCode(rawValue: CInt(truncatingIfNeeded: error.code)), message: error.message)
        } catch is ConnectionFailure {
            throw ClusterFailure(.moved, "the connection to the cluster was lost")
        }
    }

    /// Returns the name of a node's role.
    package static func roleName(_ role: UInt64) -> String {
        switch role {
        case 0: "voter"
        case 1: "standby"
        default: "spare"
        }
    }

    // MARK: - Which databases are of clusters

    private static let registry = Mutex(Registry())
    /// Whether the process has opened a cluster. If not, lookups return at once.
    private static let hasAny = Atomic<Bool>(false)

    /// Returns the cluster that a database represents, if any.
    package static func of(_ writer: any DatabaseWriter) -> ClusterDatabase? {
        guard hasAny.load(ordering: .relaxed), let queue = writer as? DatabaseQueue else { return nil }
        return registry.withLock { $0.databases.lazy.compactMap(\.value).first { $0.queue === queue } }
    }

    /// Returns the cluster that a connection represents, if any.
    package static func of(_ db: Database) -> ClusterDatabase? {
        guard hasAny.load(ordering: .relaxed) else { return nil }
        return registry.withLock { $0.databases.lazy.compactMap(\.value).first { $0.connection === db } }
    }

    private struct Registry {
        var databases: [Kept] = []

        struct Kept { weak var value: ClusterDatabase? }

        mutating func add(_ database: ClusterDatabase) {
            databases = databases.filter { $0.value != nil } + [Kept(value: database)]
            ClusterDatabase.hasAny.store(true, ordering: .relaxed)
        }
    }
}

/// An observer that ends the transaction in the cluster with the local one.
private final class TransactionMirror: TransactionObserver {
    /// Lives as long as the connection that owns this observer.
    private let database: ClusterDatabase
    private var session: ClusterSession { database.session }

    init(_ database: ClusterDatabase) { self.database = database }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseWillCommit() throws { try session.commit() }
    func databaseDidCommit(_ db: Database) {}
    func databaseDidRollback(_ db: Database) { session.rollBack() }
}
