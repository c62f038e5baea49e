package import GRDB

/// The place of a database: this process, or a cluster that a local database represents. Code that would have to ask whether a
/// database is in a cluster asks the place for the operation. By default, the protocol implements a database in this process.
package protocol DatabasePlace: AnyObject, Sendable {
    /// The address of a database in a cluster; `nil` in this process.
    var address: String? { get }
    /// The counts and calls of the row path for statements that run elsewhere; `nil` in this process.
    var link: PlaceLink? { get }
    /// Throws the error of an operation that works only in this process.
    func refuse(_ error: @autoclosure () -> any Error) throws
    /// Returns the nodes of the cluster.
    func nodes() throws -> [ClusterNode]

    // MARK: Statements

    /// Compiles a statement, and again if it fails because another client has changed the schema.
    func compiling<Result>(on db: Database, _ body: () throws -> Result) throws -> Result
    /// Prepares a locally compiled statement for the place.
    ///
    /// - Throws: ``ClusterFailure`` of kind `refused`.
    func place(_ statement: Statement, in db: Database) throws -> any PlacedStatement
    /// Returns the number of rows that the last statement has changed.
    func changesCount(of db: Database) -> Int

    // MARK: Accesses

    /// The number of times that the schema has been loaded. Statements compiled before the last load must be compiled again.
    var loads: Int { get }
    /// Runs an access of a client. It starts with the current schema and leaves nothing open elsewhere.
    ///
    /// - Throws: Errors of the closure; ``ClusterFailure``.
    func access(_ db: Database, for client: some PlaceClient, _ body: () throws -> Void) throws
    /// Begins a transaction elsewhere before the local one begins, because no statement may be compiled with an outdated schema.
    func begin(_ kind: Database.TransactionKind, on db: Database, for client: some PlaceClient) throws
    /// Runs a closure in a savepoint.
    func inSavepoint(of db: Database, _ body: () throws -> Database.TransactionCompletion) throws

    /// Runs statements without a script. Errors of nodes are thrown as SQLite errors.
    func using<Result>(isCancelled: @escaping () -> Bool, _ body: () throws -> Result) throws -> Result
    /// Runs a closure in a transaction that fails if the schema has changed.
    ///
    /// - Parameter outdated: The error if it has.
    func inTransaction(of db: Database, outdated: any Error, _ body: () throws -> Void) throws

    // MARK: Migrations

    /// Runs migrations with the current schema and the names of applied migrations.
    ///
    /// - Parameter forget: Forgets the statements of the connection.
    func migrating<Result>(_ writer: any DatabaseWriter, forget: (Database) throws -> Void, _ body: () throws -> Result) throws
        -> Result
    /// Begins a migration in the local transaction.
    func begin(migration name: String) throws
    /// Records elsewhere that a migration has run.
    func keep(migration name: String, checksum: String?, merging merges: [String]) throws
    /// Checks all foreign keys.
    ///
    /// - Parameter checkHere: The check of a database in this process.
    func checkForeignKeys(_ checkHere: () throws -> Void) throws

    // MARK: Copies

    /// Runs a closure with the contents: the database itself, or a copy that is removed afterwards and has only committed changes.
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

    /// Compiles SQL into a statement that runs at the place.
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

/// The place of databases in files and in memory.
private final class LocalPlace: DatabasePlace {}

/// The user of connections at a place: a Lua state with its compiled statements.
package protocol PlaceClient {
    /// Whether the access is a single statement, which need not see a schema change at once.
    var isStatement: Bool { get }
    /// The load count of the schema when statements were last compiled.
    var knownLoads: Int { get nonmutating set }
    /// Whether the waiting script is to end.
    static func isCancelled() -> Bool
    /// Stores the reason of a failure, in addition to SQLite's error.
    func keep(_ failure: ClusterFailure)
    /// Forgets the compiled statements and the schema.
    func forgetStatements(of db: Database)
}

/// The counts and calls of the row path for statements that run elsewhere.
package final class PlaceLink: Sendable {
    // Owned by the place, whose queue is the only user.
    package nonisolated(unsafe) let changes: UnsafeMutablePointer<Int64>
    package nonisolated(unsafe) let failuresAhead: UnsafeMutablePointer<Int64>
    /// Announces a statement that may be sent without waiting for its response: the number of rows that it changes, and the id of
    /// the row.
    package nonisolated(unsafe) let expect: (Int64, Int64?) -> Void
    /// Receives the responses to statements sent ahead. Returns whether the transaction is still open.
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
