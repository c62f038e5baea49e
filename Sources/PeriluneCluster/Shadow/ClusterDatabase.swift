internal import CPeriluneCluster
internal import Foundation
package import GRDB
internal import GRDBSQLite
internal import Synchronization

/// A database in a cluster, with what stands for it here: a database in memory with the same schema and no rows. Statements are compiled
/// there, where SQLite says what is wrong with them, and run in the cluster.
///
/// `@unchecked Sendable`: all but `address` is used on the queue alone.
package final class ClusterDatabase: @unchecked Sendable {
    package let address: ClusterAddress
    private let isReadonly: Bool
    private weak var queue: DatabaseQueue?
    private weak var connection: Database?
    package let session: ClusterSession
    /// How often the schema has been loaded: statements that were compiled before are to be compiled anew.
    package private(set) var loads = 0

    /// Connects, and reads the schema.
    ///
    /// - Parameters:
    ///   - timeout: How long a statement, the beginning of a transaction or a commit may take, and the first connection.
    ///   - configuration: Of what stands for it here; a cluster that is opened read-only refuses what writes.
    ///   - isCancelled: Whether the script that waits is to end.
    /// - Returns: What stands for it here, to be used as any database; ``of(_:)`` finds this object by it.
    /// - Throws: ``ClusterFailure``.
    package static func open(
        _ address: ClusterAddress, timeout: Duration, configuration: Configuration = Configuration(), isCancelled: @escaping () -> Bool = { false }
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
        return try asDatabaseErrors { try open(address, timeout: address.timeout ?? ClusterAddress.usualTimeout, configuration: configuration) }
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

    /// Reads the schema again. No statement may run on the connection, and it must be in no transaction.
    package func load(into db: Database) throws {
        try ShadowSchema(session: session).load(into: db)
        loads += 1
    }

    /// Whether the schema here is not that of the cluster any more, as far as that is known without asking.
    package var isOutdated: Bool { session.schema.isOutdated }

    // MARK: - Statements

    /// Compiles a statement here, and again if it fails because another client has changed the schema.
    package func compiling<Result>(on db: Database, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            // In a transaction the schema is that from its beginning on.
            guard session.local.transaction() == nil, case .none = session.transaction, (try? session.checkSchema()) != nil, isOutdated,
                (try? load(into: db)) != nil
            else { throw error }
            return try body()
        }
    }

    /// How a statement runs.
    package enum Compiled {
        /// Here, and in the cluster by what ``ClusterDatabase/run(_:_:)`` does.
        case here(RemoteText)
        /// By a statement that stands for it.
        case carried(Carrier)
    }

    /// Compiles a statement that was compiled here for the cluster.
    ///
    /// - Throws: ``ClusterFailure`` of kind `refused`.
    package func compile(_ statement: Statement, in db: Database) throws -> Compiled {
        let handle = statement.sqliteStatement
        let text = try RemoteText(String(cString: sqlite3_sql(handle)), handle)
        if isReadonly, text.writes { throw DatabaseError(resultCode: .SQLITE_READONLY, message: "attempt to write a readonly database") }
        switch text {
        case .control, .schema: return .here(text)
        case .reading(let sql): return .carried(try Carrier(sql, isReading: true, for: handle, by: session, in: db))
        case .changing(let sql): return .carried(try Carrier(sql, isReading: false, for: handle, by: session, in: db))
        }
    }

    /// Compiles a text for a program in Swift: a statement that runs in the cluster. What it runs by lives as long as `Prepared`.
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

        /// Whether it changes nothing.
        package var isReading: Bool { carrier?.remote.isReading ?? false }

        /// Executes a statement that gives no rows.
        package func execute(_ arguments: StatementArguments = StatementArguments()) throws {
            guard let text else { return try statement.execute(arguments: arguments) }
            try cluster.run(text, statement.sql) { try statement.execute(arguments: arguments) }
        }
    }

    /// Runs a statement that runs here, in the cluster too.
    ///
    /// - Parameters:
    ///   - text: What ``compile(_:in:)`` has said of it.
    ///   - body: Runs it here.
    package func run(_ text: RemoteText, _ sql: String, _ body: () throws -> Void) throws {
        if case .schema(let sql) = text {
            try session.execute(sql, changesSchema: true)
            return try body()
        }
        try body()
        // BEGIN comes with the first statement behind it, COMMIT and ROLLBACK from the observer.
        let word = StatementScan(sql).words
        let isSavepoint = ["SAVEPOINT", "RELEASE"].contains(word.first) || (word.first == "ROLLBACK" && word.contains("TO"))
        if isSavepoint, session.local.transaction() != nil { try session.execute(sql, changesSchema: false) }
    }

    /// Runs a closure in a savepoint in the cluster.
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

    /// Begins a transaction in the cluster, before one begins here.
    ///
    /// - Throws: ``ClusterFailure``.
    package func begin(_ kind: TransactionKind) throws { try session.begin(isReadonly ? .deferred : kind) }

    /// To be called when an access has ended: what is open in the cluster is rolled back.
    package func endAccess() { session.rollBack() }

    /// Runs a closure; an error of SQLite in a node is thrown as one of SQLite here would be.
    package static func asDatabaseErrors<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch let error as RemoteError {
            throw DatabaseError(resultCode: ResultCode(rawValue: CInt(truncatingIfNeeded: error.code)), message: error.message)
        } catch is ConnectionFailure {
            throw ClusterFailure(.moved, "the connection to the cluster was lost")
        }
    }

    /// What the role of a node is called.
    package static func roleName(_ role: UInt64) -> String {
        switch role {
        case 0: "voter"
        case 1: "standby"
        default: "spare"
        }
    }

    // MARK: - Which databases are of clusters

    private static let registry = Mutex(Registry())
    /// Whether there have been any: nothing is looked for where there were none.
    private static let hasAny = Atomic<Bool>(false)

    /// The cluster for which a database stands, if it does.
    package static func of(_ writer: any DatabaseWriter) -> ClusterDatabase? {
        guard hasAny.load(ordering: .relaxed), let queue = writer as? DatabaseQueue else { return nil }
        return registry.withLock { $0.databases.lazy.compactMap(\.value).first { $0.queue === queue } }
    }

    /// The same for a connection.
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

/// Ends the transaction in the cluster where the one here ends.
private final class TransactionMirror: TransactionObserver {
    /// Lives as long as the connection that owns this.
    private let database: ClusterDatabase
    private var session: ClusterSession { database.session }

    init(_ database: ClusterDatabase) { self.database = database }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseWillCommit() throws { try session.commit() }
    func databaseDidCommit(_ db: Database) {}
    func databaseDidRollback(_ db: Database) { session.rollBack() }
}
