package import GRDB

/// The location where a database's statements run: in this process, or in a cluster that a local database represents. Code calls these
/// operations instead of checking for a cluster. The default implementations are for a database in this process.
package protocol DatabasePlace: AnyObject, Sendable {
    /// The address of the cluster database; `nil` in this process.
    var address: String? { get }
    /// The counters and callbacks that the row path uses for statements in a cluster; `nil` in this process.
    var link: PlaceLink? { get }
    /// Throws the given error if the database is in a cluster, for operations that work only in this process.
    func refuse(_ error: @autoclosure () -> any Error) throws
    /// Returns the nodes of the cluster; none in this process.
    func nodes() throws -> [ClusterNode]

    // MARK: Statements

    /// Compiles a statement, and compiles it again if it fails because another client has changed the schema.
    func compiling<Result>(on db: Database, _ body: () throws -> Result) throws -> Result
    /// Wraps a locally compiled statement in a statement that runs at this place.
    ///
    /// - Throws: ``ClusterFailure`` of kind `refused`.
    func place(_ statement: Statement, in db: Database) throws -> any PlacedStatement
    /// Returns the number of rows changed by the last statement.
    func changesCount(of db: Database) -> Int

    // MARK: Accesses

    /// The number of times that the schema has been loaded. Statements compiled before the last load must be recompiled.
    var loads: Int { get }
    /// Runs a client's access to the database. It starts with the current schema, and leaves no transaction open in the cluster.
    ///
    /// - Throws: Errors of the closure; ``ClusterFailure``.
    func access(_ db: Database, for client: some PlaceClient, _ body: () throws -> Void) throws
    /// Begins a transaction in the cluster before the local one begins, because a statement must not be compiled with an outdated schema.
    func begin(_ kind: Database.TransactionKind, on db: Database, for client: some PlaceClient) throws
    /// Runs a closure in a savepoint.
    func inSavepoint(of db: Database, _ body: () throws -> Database.TransactionCompletion) throws

    /// Runs statements on behalf of the program instead of a script. Errors of nodes are thrown as SQLite errors.
    func using<Result>(isCancelled: @escaping () -> Bool, _ body: () throws -> Result) throws -> Result
    /// Runs a closure in a transaction that fails if the schema has changed in the meantime.
    ///
    /// - Parameter outdated: The error to throw if the schema has changed.
    func inTransaction(of db: Database, outdated: any Error, _ body: () throws -> Void) throws

    // MARK: Migrations

    /// Runs migrations with the current schema and the current names of applied migrations.
    ///
    /// - Parameter forget: Drops the compiled statements of the connection.
    func migrating<Result>(_ writer: any DatabaseWriter, forget: (Database) throws -> Void, _ body: () throws -> Result) throws
        -> Result
    /// Begins a migration, inside the local transaction.
    func begin(migration name: String) throws
    /// Records in the cluster that a migration has been applied.
    func keep(migration name: String, checksum: String?, merging merges: [String]) throws
    /// Checks all foreign keys.
    ///
    /// - Parameter checkHere: The check for a database in this process.
    func checkForeignKeys(_ checkHere: () throws -> Void) throws

    // MARK: Copies

    /// Runs a closure with the database itself, or with a temporary copy of a cluster database's committed contents.
    ///
    /// - Throws: Errors of the closure; ``ClusterFailure``.
    func withContents<Result>(of writer: any DatabaseWriter, _ body: (any DatabaseWriter) throws -> Result) throws -> Result
}

extension DatabasePlace {
    package var address: String? { nil }
    package var link: PlaceLink? { nil }
    package func refuse(_ error: @autoclosure () -> any Error) throws {}
    package func nodes() throws -> [ClusterNode] { [] }

    package func compiling<Result>(on db: Database, _ body: () throws -> Result) throws -> Result { try body() }
    package func place(_ statement: Statement, in db: Database) throws -> any PlacedStatement {
        LocalStatement(statement: statement)
    }
    package func changesCount(of db: Database) -> Int { db.changesCount }

    package var loads: Int { 0 }
    package func access(_ db: Database, for client: some PlaceClient, _ body: () throws -> Void) throws { try body() }
    package func begin(_ kind: Database.TransactionKind, on db: Database, for client: some PlaceClient) throws {}
    package func inSavepoint(of db: Database, _ body: () throws -> Database.TransactionCompletion) throws {
        try db.inSavepoint(body)
    }

    package func using<Result>(isCancelled: @escaping () -> Bool, _ body: () throws -> Result) throws -> Result { try body() }
    package func inTransaction(of db: Database, outdated: any Error, _ body: () throws -> Void) throws {
        try db.inTransaction(.immediate) {
            try body()
            return .commit
        }
    }

    package func migrating<Result>(
        _ writer: any DatabaseWriter, forget: (Database) throws -> Void, _ body: () throws -> Result
    ) throws -> Result { try body() }
    package func begin(migration name: String) throws {}
    package func keep(migration name: String, checksum: String?, merging merges: [String]) throws {}
    package func checkForeignKeys(_ checkHere: () throws -> Void) throws { try checkHere() }

    package func withContents<Result>(
        of writer: any DatabaseWriter, _ body: (any DatabaseWriter) throws -> Result
    ) throws -> Result { try body(writer) }

    // MARK: - For all places

    /// Compiles SQL into a statement that runs at this place.
    ///
    /// - Throws: ``ClusterFailure``; an SQLite error.
    package func prepare(_ sql: String, in db: Database) throws -> any PlacedStatement {
        try place(db.makeStatement(sql: sql), in: db)
    }

    /// Returns a copy of the whole database in memory.
    package func copyInMemory(of writer: any DatabaseWriter) throws -> DatabaseQueue {
        try withContents(of: writer) { contents in
            let queue = try DatabaseQueue()
            try contents.backup(to: queue)
            return queue
        }
    }
}

/// The place of databases of this process, in files and in memory.
private final class LocalPlace: DatabasePlace {}

/// A user of connections at a place: a Lua state and its compiled statements.
package protocol PlaceClient {
    /// Whether the access is a single statement, which may run before it notices a schema change.
    var isStatement: Bool { get }
    /// The value of ``DatabasePlace/loads`` when statements were last compiled.
    var knownLoads: Int { get nonmutating set }
    /// Returns whether the script that waits should end.
    static func isCancelled() -> Bool
    /// Stores the cause of a failure, in addition to SQLite's error.
    func keep(_ failure: ClusterFailure)
    /// Drops the compiled statements and the cached schema.
    func forgetStatements(of db: Database)
}

/// The counters and callbacks that the row path uses for statements in a cluster.
package final class PlaceLink: Sendable {
    // The pointers are owned by the place, and used only on its database queue.
    package nonisolated(unsafe) let changes: UnsafeMutablePointer<Int64>
    package nonisolated(unsafe) let failuresAhead: UnsafeMutablePointer<Int64>
    /// Announces a statement that may be sent without waiting for the response, with the expected number of changed rows and the rowid.
    package nonisolated(unsafe) let expect: (Int64, Int64?) -> Void
    /// Waits for the responses to statements that were sent ahead. Returns whether the transaction is still open.
    package nonisolated(unsafe) let settle: () -> Bool

    package init(
        changes: UnsafeMutablePointer<Int64>, failuresAhead: UnsafeMutablePointer<Int64>,
        expect: @escaping (Int64, Int64?) -> Void, settle: @escaping () -> Bool
    ) {
        (self.changes, self.failuresAhead, self.expect, self.settle) = (changes, failuresAhead, expect, settle)
    }
}

/// A node of a cluster.
package struct ClusterNode: Sendable {
    package let id: UInt64
    package let name: String
    package let role: String
    package let isLeader: Bool

    package init(id: UInt64, name: String, role: String, isLeader: Bool) {
        (self.id, self.name, self.role, self.isLeader) = (id, name, role, isLeader)
    }
}

extension DatabasePlaces {
    package static let here: any DatabasePlace = LocalPlace()
}
