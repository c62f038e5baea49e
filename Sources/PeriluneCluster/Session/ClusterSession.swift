internal import PeriluneRecords
/// A client of a cluster database, with one connection to the leader. It connects on demand, and reconnects after a change of
/// leader.
///
/// Until the deadline, the session repeats operations that are safe to repeat: reads outside transactions, the start of a
/// transaction, and a single statement that was definitely not committed. The errors of all other operations describe what is known
/// about their outcome.
final class ClusterSession: RemoteSession, RowPageReceiver {
    let database: ClusterAddress
    /// The time limit of a statement, the start of a transaction, or a commit.
    var timeout: Duration
    var isCancelled: () -> Bool = { false }
    var local = LocalConnection()
    var onFailure: (ClusterFailure) -> Void {
        get { local.noteFailure }
        set { local.noteFailure = newValue }
    }

    let schema = SchemaVersion()
    var members: ClusterMembers
    private(set) var connection: LeaderConnection?
    var transaction = TransactionState.none
    /// Whether the open transaction has written, and whether it has changed the schema.
    var hasWritten = false
    var hasChangedSchema = false
    let token = CommitToken()
    /// Whether the table of commit tokens exists.
    var hasTokenTable = false
    /// The expected result of the next statement, if that statement may be sent ahead.
    private var expectation: RemoteResult?
    let changes = UnsafeMutablePointer<Int64>.allocate(capacity: 1)
    let failuresAhead = UnsafeMutablePointer<Int64>.allocate(capacity: 1)

    init(_ database: ClusterAddress, timeout: Duration) {
        self.database = database
        self.timeout = timeout
        members = ClusterMembers(database)
        changes.initialize(to: 0)
        failuresAhead.initialize(to: 0)
    }

    deinit {
        connection?.close()
        changes.deallocate()
        failuresAhead.deallocate()
    }

    // MARK: - Connecting

    var leader: String? { members.leader?.name }

    /// Closes the connection. The node then rolls back an open transaction.
    func close() {
        disconnect()
        transaction = .none
    }

    func disconnect() {
        connection?.close()
        connection = nil
    }

    func connected(until deadline: Deadline) throws -> LeaderConnection {
        if let connection { return connection }
        let found = LeaderConnection(try members.connect(until: deadline, isCancelled))
        connection = found
        return found
    }

    // MARK: - Statements

    func rows(of call: RemoteCall) throws -> any RemoteRows {
        let statement = call.statement
        guard statement.isReading else { return try changingRows(of: call) }
        let deadline = Deadline(after: timeout)
        let rows =
            try joinTransaction()
            ? joined { connection in
                try settle(connection, until: deadline)
                return try connection.read(call, until: deadline)
            }
            : retrying(until: deadline) { connection in
                try settle(connection, until: deadline)
                try connection.setForeignKeys(local.enforcesForeignKeys(), until: deadline)
                return try connection.read(call, until: deadline)
            }
        try check(rows, of: statement)
        rows.receiver = self
        return rows
    }

    /// Checks that the rows have as many columns as the statement has with the local schema.
    private func check(_ rows: RowPages, of statement: RemoteStatement) throws {
        guard rows.columnCount != statement.columnCount else { return }
        schema.suspect()
        rows.isAbandoned = true
        throw Self.outdated
    }

    private static let outdated = RemoteError(
        code: 17, message: "another client has changed the schema of the database; run the statement again")  // SQLITE_SCHEMA

    /// Runs a statement that writes and returns rows. All rows are received before the transaction continues.
    private func changingRows(of call: RemoteCall) throws -> RowPages {
        try changing { connection, deadline in
            let (rows, result) = try connection.changeReturning(call, until: deadline)
            try check(rows, of: call.statement)
            changes.pointee = result.changes
            rows.insertedRowID = result.rowID
            return rows
        }
    }

    func run(_ call: RemoteCall) throws -> RemoteResult {
        if let result = try sendAhead(call) { return result }
        return try changing { connection, deadline in
            let result = try connection.change(call, until: deadline)
            changes.pointee = result.changes
            return result
        }
    }

    /// Runs a write in the open transaction, or else in a separate transaction.
    private func changing<Result>(_ body: (LeaderConnection, Deadline) throws -> Result) throws -> Result {
        let deadline = Deadline(after: timeout)
        if try joinTransaction() {
            hasWritten = true
            return try joined { connection in
                try settle(connection, until: deadline)
                return try body(connection, deadline)
            }
        }
        while true {
            do {
                try begin(.immediate, until: deadline)
                guard !schema.isOutdated else {
                    rollBack()
                    throw Self.outdated
                }
                hasWritten = true
                let result = try joined { try body($0, deadline) }
                try commit()
                return result
            } catch let failure as ClusterFailure where failure.kind == .moved && !deadline.isOver {
                // The transaction was definitely not committed, so it can be repeated.
                transaction = .none
            } catch {
                rollBack()
                throw error
            }
        }
    }

    func execute(_ sql: String, changesSchema: Bool) throws {
        try changing { connection, deadline in
            connection.forgetRowID()
            try connection.execute(sql, until: deadline)
            if changesSchema { hasChangedSchema = true }
        }
    }

    func query(_ sql: String) throws -> [[RemoteValue]] {
        let deadline = Deadline(after: timeout)
        func run(_ connection: LeaderConnection) throws -> [[RemoteValue]] {
            try settle(connection, until: deadline)
            return try connection.query(sql, until: deadline)
        }
        return try joinTransaction() ? joined(run) : retrying(until: deadline, run)
    }

    // MARK: - Statements that are sent ahead

    func expect(changes: Int64, rowID: Int64?) {
        expectation = changes > 0 ? RemoteResult(rowID: rowID, changes: changes) : nil
    }

    private func sendAhead(_ call: RemoteCall) throws -> RemoteResult? {
        guard let expected = expectation else { return nil }
        expectation = nil
        guard let conditional = call.statement.inserting(where: token.isMarked), try joinTransaction() else { return nil }
        let deadline = Deadline(after: timeout)
        hasWritten = true
        try joined { connection in
            if !connection.isMarked {
                try settle(connection, until: deadline)
                try connection.execute(token.mark, until: deadline)
                connection.isMarked = true
            }
            try connection.sendAhead(call.with(conditional), expecting: expected, until: deadline)
        }
        changes.pointee = expected.changes
        return expected
    }

    func settleAhead() throws {
        guard connection?.isMarked == true else { return }
        try joined { try settle($0, until: Deadline(after: timeout)) }
    }

    /// Receives all outstanding responses and rows.
    func settle(_ connection: LeaderConnection, until deadline: Deadline) throws {
        try connection.settle(until: deadline, isInTransaction: transaction != .none)
        let failures = connection.takeFailuresAhead()
        failuresAhead.pointee += failures.count
        if failures.mayHaveRolledBack { try checkIsOpen(connection) }
    }

    // MARK: - Rows

    /// Receives the next page of rows.
    func receivePage(of rows: RowPages) throws {
        guard let connection, connection.isReading(rows) else {
            throw ClusterFailure(.moved, "the rows are of a connection that has ended")
        }
        let deadline = Deadline(after: timeout)
        if case .open = transaction {
            try joined { try $0.receivePage(of: rows, until: deadline) }
        } else {
            try receivingOutside(connection) { try connection.receivePage(of: rows, until: deadline) }
        }
    }

    /// Receives a page of rows outside a transaction. A failure is not retried, because the program may already have used earlier
    /// rows.
    private func receivingOutside(_ connection: LeaderConnection, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as RemoteError where !error.endsConnection {
            connection.forgetRows()
            throw error
        } catch {
            disconnect()
            switch error {
            case ConnectionFailure.deadline: throw timeoutFailure("the statement")
            case ConnectionFailure.refused(let failure): throw failure
            case ConnectionFailure.cancelled: throw ClusterFailure(.cancelled, "interrupted")
            default:
                throw ClusterFailure(
                    .moved, "the connection to the leader was lost while rows were read; run the statement again")
            }
        }
    }

    // MARK: - The schema

    var wantsSchemaCheck: Bool { schema.isOutdated || (schema.isDue && transaction == .none) }

    var isSchemaOutdated: Bool { schema.isOutdated }
    func checkSchema() throws { schema.note(try schemaVersion()) }
    func schemaVersion() throws -> Int64? { try query(SchemaVersion.question).first?.first?.integer }

    func didLoadSchema(_ version: Int64?, objects: Set<String>) {
        hasTokenTable = objects.contains(CommitToken.table)
        schema.didLoad(version)
    }

    // MARK: - The whole database

    func dump() throws -> [(name: String, bytes: [UInt8])] {
        let deadline = Deadline(after: max(timeout, .seconds(60)))
        return try retrying(until: deadline) { connection in
            try settle(connection, until: deadline)
            return try connection.dump(database.name, until: deadline)
        }
    }

    func servers() throws -> [(id: UInt64, name: String, role: UInt64)] {
        let deadline = Deadline(after: timeout)
        return try retrying(until: deadline) { connection in
            try settle(connection, until: deadline)
            return try connection.servers(until: deadline)
        }
    }
}
