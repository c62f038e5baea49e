internal import CPeriluneRows
internal import GRDB
internal import PeriluneRecords

/// A runner for access requests from the row path. It opens a connection, runs the request's body, and ends any transaction that is
/// still open.
struct AccessRunner {
    let request: UnsafeMutablePointer<pdb_access_request>
    let database: ScriptDatabase
    private var writer: any DatabaseWriter { database.writer }

    init(request: UnsafeMutablePointer<pdb_access_request>, database: ScriptDatabase) {
        self.request = request
        self.database = database
    }

    func run() throws {
        try database.entering(use) {
            try open()
        }
    }

    /// The connection that the request needs.
    private var use: ConnectionTurns.Use {
        if database.keepsTransactions { return .writing }
        return switch request.pointee.mode {
        case PDB_READ_STATEMENT where database.statementReader != nil: .none
        case PDB_READ_STATEMENT, PDB_READ: .reading
        default: .writing
        }
    }

    private func open() throws {
        if database.isSnapshot { return try openSnapshot() }
        if database.keepsTransactions { return try openKeeping() }
        switch request.pointee.mode {
        case PDB_READ_STATEMENT: try readStatement { db in try leaving(db) { try runInAutocommit(db) } }
        case PDB_READ:
            try writer.unsafeRead { db in
                database.turns.endWaitForReader()
                try leaving(db) { try runReading(db) }
            }
        case PDB_WRITE_STATEMENT, PDB_WITHOUT_TRANSACTION:
            try writer.writeWithoutTransaction { db in try leaving(db) { try settling(db) { try runInAutocommit(db) } } }
        default:
            try writer.writeWithoutTransaction { db in
                try leaving(db) {
                    try settling(db) {
                        try database.place.begin(Self.kind(of: request.pointee.mode), on: db, for: self)
                        try runInTransaction(db)
                    }
                }
            }
        }
    }

    /// Runs the request in the open read transaction of a snapshot.
    private func openSnapshot() throws {
        let mode = request.pointee.mode
        guard mode == PDB_READ_STATEMENT || mode == PDB_READ || mode == PDB_WRITE_STATEMENT else {
            throw BindingError("readonly", "a snapshot can only be read; write to the database that it was taken of")
        }
        try writer.unsafeRead { db in
            try db.requireOpen()
            if !database.extensions.isEmpty { try database.extensions.load(on: db) }
            pdb_end_interruption_of_cursors(request.pointee.database, db.sqliteConnection)
            guard Self.isInTransaction(db) else { throw BindingError("closed", "the snapshot has ended; take another one") }
            try runBody(db)
        }
    }

    /// Runs the request in a database that keeps transactions open between calls. If SQL has started a transaction, the request
    /// runs inside it. A transaction that the body starts stays open unless the body fails.
    private func openKeeping() throws {
        try writer.writeWithoutTransaction { db in
            try db.requireOpen()
            let isInside = Self.isInTransaction(db)
            if isInside { try enclose() }
            let mode = request.pointee.mode
            do {
                try preparing(db) {
                    try settling(db) {
                        switch mode {
                        case PDB_READ where !isInside: try runReading(db)
                        case PDB_READ, PDB_READ_STATEMENT, PDB_WRITE_STATEMENT, PDB_WITHOUT_TRANSACTION: try runBody(db)
                        default: try runInTransaction(db)
                        }
                    }
                }
            } catch {
                if !isInside { db.endTransaction() }
                throw error
            }
        }
    }

    /// Changes the request's block to run in a savepoint of the open transaction.
    private func enclose() throws {
        switch request.pointee.mode {
        case PDB_READ, PDB_READ_STATEMENT, PDB_WRITE_STATEMENT, PDB_WITHOUT_TRANSACTION: break
        case PDB_MIGRATION:
            throw BindingError(
                "open_transaction", "migrations cannot run while a transaction is open; end it with COMMIT or ROLLBACK first")
        default: pdb_enclose_block(request)
        }
    }

    /// Prepares the connection, runs the body, and then ends any transaction that is still open, even after an error. GRDB crashes
    /// the process if one stays open.
    private func leaving(_ db: Database, _ body: () throws -> Void) throws {
        defer { db.endTransaction() }
        try preparing(db, body)
    }

    private func preparing(_ db: Database, _ body: () throws -> Void) throws {
        try db.requireOpen()
        pdb_end_interruption_of_cursors(request.pointee.database, db.sqliteConnection)
        // A pool's readers never wait for locks held by writers.
        if database.statementReader == nil || use == .writing { database.makeWaitsCancellable(db) }
        try database.place.access(db, for: self) {
            if !database.extensions.isEmpty { try database.extensions.load(on: db) }
            try prepare(db)
            try body()
        }
    }

    /// Runs the script's preparation function the first time the script uses this connection, on the state's thread and outside
    /// transactions.
    private func prepare(_ db: Database) throws {
        if pdb_is_prepared(request.pointee.database, try db.openHandle()) { return }
        let status = pdb_prepare_connection(request, db.sqliteConnection, Unmanaged.passUnretained(db).toOpaque())
        if status != 0 { throw BodyFailure() }
    }

    private func readStatement(_ body: (Database) throws -> Void) throws {
        guard let reader = database.statementReader else { return try writer.unsafeRead(body) }
        if let handle = reader.outdated {
            pdb_forget_connection(request.pointee.L, request.pointee.database, handle)
            database.closeReader()
        }
        try reader.read(body)
    }

    /// Runs the body. Throws ``BodyFailure`` if the body fails, with the error on the Lua stack.
    private func runBody(_ db: Database) throws {
        database.releaseLeftover()
        let status = pdb_run_access(request, db.sqliteConnection, Unmanaged.passUnretained(db).toOpaque())
        if status != 0 { throw BodyFailure() }
    }

    /// Runs a body that may end transactions, and then notifies transaction observers before another access can write.
    private func settling(_ db: Database, _ body: () throws -> Void) throws {
        try db.requireOpen()
        do {
            try body()
        } catch {
            settle(db, hasFailed: true)
            throw error
        }
        settle(db, hasFailed: false)
    }

    private func settle(_ db: Database, hasFailed: Bool) {
        pdb_end_observed_access(request, db.sqliteConnection, Unmanaged.passUnretained(db).toOpaque(), hasFailed)
    }

    /// Runs the body in autocommit mode. If the body leaves a transaction open, rolls the transaction back and throws.
    private func runInAutocommit(_ db: Database) throws {
        try db.requireOpen()
        defer { db.endTransaction() }
        try runBody(db)
        if Self.isInTransaction(db) {
            throw BindingError(
                "open_transaction",
                "SQL left a transaction open (BEGIN or SAVEPOINT without its end), which was rolled back; "
                    + "use db:write, db:in_transaction or db:in_savepoint")
        }
    }

    /// Returns whether a transaction is open. GRDB's `isInsideTransaction` is not used, because it also checks the queue, which
    /// would slow down every statement outside a block.
    private static func isInTransaction(_ db: Database) -> Bool {
        sqlite3_get_autocommit(db.sqliteConnection) == 0
    }

    /// Runs the body in a deferred transaction, so all reads see the same version of the database. The row path rejects writes.
    private func runReading(_ db: Database) throws {
        try db.requireOpen()
        try database.place.begin(.deferred, on: db, for: self)
        let connection = db.sqliteConnection!
        let code = pdb_begin_read(connection)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        defer { _ = pdb_end_read(connection) }
        try runBody(db)
    }

    private func runInTransaction(_ db: Database) throws {
        try db.inTransaction(Self.kind(of: request.pointee.mode)) {
            do {
                try runBody(db)
            } catch let failure as BodyFailure {
                DatabaseCallbacks.suggestName(forErrorOn: request.pointee.L, db)
                throw failure
            }
            return request.pointee.completion == PDB_COMMIT ? .commit : .rollback
        }
    }

    private static func kind(of mode: pdb_access_mode) -> Database.TransactionKind {
        switch mode {
        case PDB_DEFERRED: .deferred
        case PDB_EXCLUSIVE: .exclusive
        default: .immediate
        }
    }

    /// Runs a request in a transaction or savepoint inside the open access.
    static func runNested(_ request: UnsafeMutablePointer<pdb_access_request>, in db: Database) throws {
        func body() throws -> Database.TransactionCompletion {
            // GRDB then commits or rolls back the body's changes, and this statement must not be interrupted.
            defer { pdb_end_interruption(db.sqliteConnection) }
            if pdb_run_nested_access(request) != 0 {
                DatabaseCallbacks.suggestName(forErrorOn: request.pointee.L, db)
                throw BodyFailure()
            }
            return request.pointee.completion == PDB_COMMIT ? .commit : .rollback
        }
        let mode = request.pointee.mode
        let nestsBlocks =
            mode == PDB_SAVEPOINT || mode == PDB_GUARD || ScriptDatabase.of(request.pointee.database).keepsTransactions
        if nestsBlocks, db.isInsideTransaction {
            try DatabasePlaces.of(db).inSavepoint(of: db, body)
        } else {
            try db.inTransaction(kind(of: mode), body)
        }
    }
}

extension Database {
    fileprivate func openHandle() throws -> OpaquePointer {
        try requireOpen()
        return sqliteConnection!
    }

    /// Rolls back any open transaction, even if statements are running or the connection is interrupted.
    ///
    /// GRDB executes the rollback in order to notify observers. Failed attempts are repeated, because the host may interrupt the
    /// connection again.
    func endTransaction() {
        var attempts = 1000
        while sqliteConnection != nil, sqlite3_get_autocommit(sqliteConnection) == 0, attempts > 0 {
            pdb_end_interruption(sqliteConnection)
            try? rollback()
            attempts -= 1
        }
    }

    /// Throws if the host program has closed the connection. GRDB still provides closed connections, and using one crashes SQLite.
    func requireOpen() throws {
        guard sqliteConnection != nil else { throw BindingError("closed", "the database is closed: the host program closed it") }
    }
}
