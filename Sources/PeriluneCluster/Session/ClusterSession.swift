internal import CPeriluneCluster
internal import GRDBSQLite

/// One client of a database in a cluster, with one connection to the node that leads. Connects when it must, and again after a change of leader.
///
/// What is safe to run again is run again until the deadline: reading outside of transactions, the beginning of a transaction, and a
/// statement that is a transaction of its own and surely was not committed. Everything else fails, and says what is known.
package final class ClusterSession: RemoteEngine {
    package let database: ClusterAddress
    /// How long a statement, the beginning of a transaction or a commit may take.
    package var timeout: Duration
    /// Whether the script that waits is to end.
    package var isCancelled: () -> Bool = { false }
    /// Is given why something could not be done, beside what SQLite says of it.
    package var onFailure: (ClusterFailure) -> Void = { _ in }
    /// What the connection here is in: a transaction of this kind, or none.
    var localTransaction: () -> TransactionKind? = { nil }
    /// Whether the connection here enforces foreign keys.
    var enforcesForeignKeys: () -> Bool = { true }
    /// Has the connection here know the id of a row that was inserted.
    var noteInsertion: (Int64) -> Void = { _ in }

    private let client = UInt64.random(in: 1...UInt64(Int64.max))
    private var connection: NodeConnection?
    /// A number for each connection.
    private var generation: UInt64 = 0
    package private(set) var transaction = TransactionState.none
    private var lastLeader: ServerAddress?
    /// The nodes of the cluster, voters first, as the last leader has named them.
    private var members: [ServerAddress] = []
    /// What the node sends rows of.
    private var active: RowSource?
    /// Prepared statements of the connection that nothing uses any more.
    private var unused: [UInt32] = []
    private var ahead = StatementsAhead()
    private var hasForeignKeys = true
    private var lastRowID: Int64 = 0
    /// What the transaction has done.
    private var hasWritten = false
    private var hasChangedSchema = false
    /// The version of the schema that is known here.
    var schemaVersion: Int64?
    /// Whether another client has changed the schema since.
    private(set) var isSchemaOutdated = false
    private let token = CommitToken()
    /// Whether the table of tokens is there.
    var hasTokenTable = false
    /// When the schema was last found to be current.
    private var schemaCheck = Deadline(after: .zero)
    /// How many rows the last statement has changed.
    package let changes = UnsafeMutablePointer<Int64>.allocate(capacity: 1)

    package init(_ database: ClusterAddress, timeout: Duration) {
        self.database = database
        self.timeout = timeout
        changes.initialize(to: 0)
    }

    deinit {
        connection?.close()
        changes.deallocate()
    }

    /// Ends the connection; a transaction that is open is rolled back by the node.
    package func close() {
        disconnect()
        transaction = .none
    }

    // MARK: - Connecting

    /// The node that leads, as it was last known.
    package var leader: String? { connection?.address.name ?? lastLeader?.name }

    private func disconnect() {
        connection?.close()
        connection = nil
        active?.failure = ClusterFailure(.moved, "the connection to the leader was lost while rows were read; run the statement again")
        active = nil
        unused = []
        ahead.forget()
    }

    private func connected(until deadline: Deadline) throws -> NodeConnection {
        if let connection { return connection }
        let search = LeaderSearch(database: database, client: client, isCancelled: isCancelled)
        let candidates = (lastLeader.map { [$0] } ?? []) + database.servers + members
        let (found, reason) = try search.connect(trying: candidates, until: deadline)
        guard let found else { throw ConnectionFailure.lost(reason) }
        if lastLeader != found.address { try refreshMembers(found, search, until: deadline) }
        (connection, lastLeader) = (found, found.address)
        generation += 1
        (hasForeignKeys, lastRowID) = (true, 0)
        return found
    }

    /// Keeps the list of nodes fresh: those that the program has named may all be gone one day.
    private func refreshMembers(_ connection: NodeConnection, _ search: LeaderSearch, until deadline: Deadline) throws {
        let found: [(id: UInt64, name: String, role: UInt64)]
        do { found = try connection.servers(until: deadline) } catch is RemoteError { return }
        members = found.sorted { ($0.role, $0.name) < ($1.role, $1.name) }.compactMap { search.address(named: $0.name) }
    }

    // MARK: - Trying again

    /// Runs a closure, and again after a change of leader or while another client writes, until the deadline.
    ///
    /// - Parameter body: Must leave nothing committed when it fails.
    private func retrying<Result>(until deadline: Deadline, _ body: (NodeConnection) throws -> Result) throws -> Result {
        var moving = BackOff(from: 20, to: 500), locked = BackOff(from: 1, to: 40)
        var failure = ClusterFailure(.unreachable, "no node of \(database) answers")
        while true {
            do {
                do {
                    return try body(connected(until: deadline))
                } catch let error as RemoteError where error.isBusy && transaction == .none {
                    failure = ClusterFailure(
                        .busy, "another client has been writing for \(timeout.text); try again later, or give the database a longer timeout")
                    try locked.wait(until: deadline, isCancelled)
                } catch let error as RemoteError where error.endsConnection {
                    disconnect()
                    failure = ClusterFailure(.unreachable, "\(database) has no leader: \(error.message)")
                    try moving.wait(until: deadline, isCancelled)
                } catch ConnectionFailure.lost(let reason) {
                    disconnect()
                    failure = ClusterFailure(.unreachable, "\(database) cannot be reached: \(reason)")
                    try moving.wait(until: deadline, isCancelled)
                }
            } catch ConnectionFailure.deadline {
                let hasWaited = connection != nil && failure.kind != .busy
                // A connection that owes an answer can be used for nothing else.
                disconnect()
                throw hasWaited ? timeoutFailure("the statement") : failure
            } catch ConnectionFailure.cancelled {
                disconnect()
                throw ClusterFailure(.cancelled, "interrupted")
            }
        }
    }

    private func timeoutFailure(_ what: String) -> ClusterFailure {
        ClusterFailure(
            .timeout, "\(what) had no answer within \(timeout.text): the connection was closed; nothing was committed. "
                + "A node cannot interrupt a statement, and may still be busy with it")
    }

    // MARK: - Transactions

    /// Runs a closure in the transaction that is open. What ends the connection ends it.
    private func joined<Result>(_ body: (NodeConnection) throws -> Result) throws -> Result {
        guard let connection else { throw lose("the connection was lost") }
        do {
            return try body(connection)
        } catch let error as RemoteError where error.endsConnection {
            throw lose(error.message)
        } catch let error as RemoteError {
            // Some failures roll the whole transaction back, and nothing says so but another BEGIN.
            if Self.mayHaveRolledBack(error.code) { try checkIsOpen(connection) }
            throw error
        } catch ConnectionFailure.lost(let reason) {
            throw lose(reason)
        } catch ConnectionFailure.deadline {
            throw lose(timeoutFailure("a statement"))
        } catch ConnectionFailure.cancelled {
            throw lose(ClusterFailure(.cancelled, "interrupted"))
        }
    }

    private static func mayHaveRolledBack(_ code: UInt64) -> Bool { ![1, 8, 20].contains(code & 0xFF) }

    private func checkIsOpen(_ connection: NodeConnection) throws {
        let deadline = Deadline(after: timeout)
        do {
            try settle(connection, until: deadline)
            try execute("BEGIN", on: connection, until: deadline)
        } catch let error as RemoteError where !error.endsConnection {
            return
        } catch {
            throw lose("the connection was lost")
        }
        throw lose(ClusterFailure(.moved, "the transaction was rolled back by an error in it"))
    }

    private func lose(_ reason: String) -> ClusterFailure {
        lose(
            ClusterFailure(
                .moved, "the leader of the cluster has changed (\(reason)): the transaction was rolled back, and nothing was committed; run the "
                    + "block again, or have that done: db:write({ retry = 3 }, f)"))
    }

    private func lose(_ failure: ClusterFailure) -> ClusterFailure {
        disconnect()
        transaction = .lost(failure)
        return failure
    }

    /// Whether a transaction is open: it is begun if the connection here is in one.
    private func joinTransaction() throws -> Bool {
        switch transaction {
        case .lost(let failure): throw failure
        case .open:
            if localTransaction() != nil { return true }
            rollBack()
            return false
        case .none:
            guard let kind = localTransaction() else { return false }
            try begin(kind)
            guard !isSchemaOutdated else {
                throw lose(ClusterFailure(.moved, "another client has changed the schema of the database; run the transaction again"))
            }
            return true
        }
    }

    func begin(_ kind: TransactionKind) throws { try begin(kind, until: Deadline(after: timeout)) }

    private func begin(_ kind: TransactionKind, until deadline: Deadline) throws {
        let version = try retrying(until: deadline) { connection -> Int64? in
            try settle(connection, until: deadline)
            try setForeignKeys(on: connection, until: deadline)
            if kind != .deferred { try makeTokenTable(on: connection, until: deadline) }
            try put("BEGIN \(kind.rawValue)", .execSQL, on: connection)
            try put("PRAGMA schema_version", .querySQL, on: connection)
            try connection.flush(until: deadline)
            do {
                _ = try connection.answer(.result, until: deadline)
            } catch let error as RemoteError {
                _ = try connection.answer(.rows, until: deadline)
                throw error
            }
            return try connection.answer(.rows, until: deadline).firstInteger()
        }
        transaction = .open(kind)
        (hasWritten, hasChangedSchema) = (false, false)
        noteSchema(version)
    }

    private func noteSchema(_ version: Int64?) {
        isSchemaOutdated = version != schemaVersion
        schemaCheck = Deadline(after: .seconds(1))
    }

    private func setForeignKeys(on connection: NodeConnection, until deadline: Deadline) throws {
        let isWanted = enforcesForeignKeys()
        guard isWanted != hasForeignKeys else { return }
        try execute("PRAGMA foreign_keys = \(isWanted ? 1 : 0)", on: connection, until: deadline)
        hasForeignKeys = isWanted
    }

    private func makeTokenTable(on connection: NodeConnection, until deadline: Deadline) throws {
        if hasTokenTable { return }
        func version() throws -> Int64? { try query("PRAGMA schema_version", on: connection, until: deadline).first?.first?.integer }
        let former = try version()
        try execute(CommitToken.definition, on: connection, until: deadline)
        hasTokenTable = true
        // Nothing here needs to know of this table.
        if former == schemaVersion { schemaVersion = try version() }
    }

    /// Commits the transaction that is open.
    ///
    /// - Throws: ``ClusterFailure`` of kind `moved` or `timeout` if it was not committed, of kind `unknown` if that could not be found out;
    ///   ``RemoteError``, with the transaction still open.
    func commit() throws {
        switch transaction {
        case .none: return
        case .lost(let failure): throw failure
        case .open: break
        }
        let deadline = Deadline(after: timeout)
        guard hasWritten else {
            try? joined { try settle($0, until: deadline); try execute("COMMIT", on: $0, until: deadline) }
            transaction = .none
            return
        }
        var version: Int64?
        try joined { connection in
            try settle(connection, until: deadline)
            if hasChangedSchema { version = try query("PRAGMA schema_version", on: connection, until: deadline).first?.first?.integer }
            try execute(token.next(), on: connection, until: deadline)
        }
        if try sendCommit(until: deadline) {
            transaction = .none
            if hasChangedSchema { schemaVersion = version }
            return
        }
        throw lose("it did not answer the commit, which has not happened")
    }

    /// Returns whether it has happened.
    private func sendCommit(until deadline: Deadline) throws -> Bool {
        guard let connection else { return false }
        do {
            try execute("COMMIT", on: connection, until: deadline)
            return true
        } catch let error as RemoteError where !error.endsConnection {
            throw error
        } catch {
            disconnect()
            return try lookUpCommit()
        }
    }

    /// Finds out whether the last commit, which had no answer, has happened.
    ///
    /// That the token is missing is not enough: what a former leader has sent to others might come to be committed later. A write of the new
    /// leader after it, in the transaction that has found no token, settles that: what is not before it in the log never will be.
    private func lookUpCommit() throws -> Bool {
        transaction = .none
        let deadline = Deadline(after: max(timeout, .seconds(15)))
        let number = token.number
        do {
            while true {
                do {
                    try begin(.immediate, until: deadline)
                    guard let connection else { throw ConnectionFailure.lost("") }
                    let found = try query(token.question, on: connection, until: deadline).first?.first?.integer ?? 0
                    if found >= number {
                        rollBack()
                        return true
                    }
                    try execute(token.fence(before: number), on: connection, until: deadline)
                    try execute("COMMIT", on: connection, until: deadline)
                    transaction = .none
                    return false
                } catch is RemoteError {
                    close()
                } catch ConnectionFailure.lost {
                    close()
                } catch let failure as ClusterFailure where failure.kind == .moved {
                    close()
                }
                if deadline.isOver { throw ConnectionFailure.deadline }
            }
        } catch {
            close()
            let failure = ClusterFailure(
                .unknown, "the leader did not answer the commit, and whether it has happened could not be found out: look for what it "
                    + "should have written before running it again")
            transaction = .lost(failure)
            throw failure
        }
    }

    /// Rolls back what is open, and forgets what was lost.
    func rollBack() {
        defer { transaction = .none }
        guard case .open = transaction, let connection else { return }
        let deadline = Deadline(after: min(timeout, .seconds(5)))
        do {
            active?.isAbandoned = true
            try settle(connection, until: deadline)
            try execute("ROLLBACK", on: connection, until: deadline)
        } catch {
            disconnect()
        }
    }

    // MARK: - Statements

    func rows(of statement: RemoteStatement, _ count: CInt, _ values: UnsafeMutablePointer<OpaquePointer?>?) throws -> RowSource {
        guard statement.isReading else { return try changingRows(of: statement, count, values) }
        let deadline = Deadline(after: timeout)
        if try joinTransaction() {
            return try joined { try read(statement, count, values, on: $0, until: deadline) }
        }
        return try retrying(until: deadline) { connection in
            try settle(connection, until: deadline)
            try setForeignKeys(on: connection, until: deadline)
            return try read(statement, count, values, on: connection, until: deadline)
        }
    }

    private func read(
        _ statement: RemoteStatement, _ count: CInt, _ values: UnsafeMutablePointer<OpaquePointer?>?, on connection: NodeConnection,
        until deadline: Deadline
    ) throws -> RowSource {
        try settle(connection, until: deadline)
        try put(statement, count, values, .query, .querySQL, on: connection, until: deadline)
        try connection.flush(until: deadline)
        let rows = try RowSource(first: connection.answer(.rows, until: deadline))
        active = rows.isComplete ? nil : rows
        try check(rows, of: statement)
        return rows
    }

    private func check(_ rows: RowSource, of statement: RemoteStatement) throws {
        guard rows.columnCount != statement.columnCount else { return }
        (isSchemaOutdated, schemaVersion) = (true, nil)
        rows.isAbandoned = true
        throw RemoteError(code: UInt64(SQLITE_SCHEMA), message: "another client has changed the schema of the database; run the statement again")
    }

    /// Rows of a statement that changes something: they all come before the transaction goes on.
    private func changingRows(
        of statement: RemoteStatement, _ count: CInt, _ values: UnsafeMutablePointer<OpaquePointer?>?
    ) throws -> RowSource {
        try changing { connection, deadline in
            try put(statement, count, values, .query, .querySQL, on: connection, until: deadline)
            try put("SELECT last_insert_rowid(), changes()", .querySQL, on: connection)
            try connection.flush(until: deadline)
            let rows: RowSource
            do {
                rows = try RowSource(first: connection.answer(.rows, until: deadline))
            } catch let error as RemoteError {
                _ = try connection.answer(.rows, until: deadline)
                throw error
            }
            while !rows.isComplete { try rows.add(connection.answer(.rows, until: deadline)) }
            let counts = try RowSource(first: connection.answer(.rows, until: deadline)).values()
            try check(rows, of: statement)
            rows.insertedRowID = note(statement, rowID: counts.first?.first?.integer ?? 0, changes: counts.first?.last?.integer ?? 0).rowID
            return rows
        }
    }

    func run(_ statement: RemoteStatement, _ count: CInt, _ values: UnsafeMutablePointer<OpaquePointer?>?) throws -> RemoteResult {
        if let expected = ahead.takeExpectation(), let conditional = statement.inserting(where: token.isMarked), try joinTransaction() {
            return try sendAhead(conditional, count, values, expected)
        }
        return try changing { connection, deadline in
            try put(statement, count, values, .exec, .execSQL, on: connection, until: deadline)
            try connection.flush(until: deadline)
            let body = try connection.answer(.result, until: deadline)
            let rowID = Int64(bitPattern: try body.readU64()), changes = Int64(bitPattern: try body.readU64())
            return note(statement, rowID: rowID, changes: changes)
        }
    }

    /// Runs something that changes rows, in the transaction that is open, or in one of its own.
    private func changing<Result>(_ body: (NodeConnection, Deadline) throws -> Result) throws -> Result {
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
                guard !isSchemaOutdated else {
                    rollBack()
                    throw RemoteError(
                        code: UInt64(SQLITE_SCHEMA), message: "another client has changed the schema of the database; run the statement again")
                }
                hasWritten = true
                let result = try joined { try body($0, deadline) }
                try commit()
                return result
            } catch let failure as ClusterFailure where failure.kind == .moved && !deadline.isOver {
                // Surely not committed.
                transaction = .none
            } catch {
                rollBack()
                throw error
            }
        }
    }

    private func note(_ statement: RemoteStatement, rowID: Int64, changes count: Int64) -> RemoteResult {
        changes.pointee = count
        let former = lastRowID
        lastRowID = rowID
        let hasInserted =
            switch statement.insertion {
            case .none: false
            case .always: count > 0
            case .perhaps: count > 0 && rowID != former
            }
        return RemoteResult(rowID: hasInserted ? rowID : nil, changes: count)
    }

    /// Runs a text without values, in the transaction that is open or in one of its own: what changes the schema, and savepoints.
    package func execute(_ sql: String, changesSchema: Bool) throws {
        try changing { connection, deadline in
            try execute(sql, on: connection, until: deadline)
            if changesSchema { hasChangedSchema = true }
        }
    }

    /// Runs a text that reads.
    package func query(_ sql: String) throws -> [[RemoteValue]] {
        let deadline = Deadline(after: timeout)
        if try joinTransaction() {
            return try joined { try settle($0, until: deadline); return try query(sql, on: $0, until: deadline) }
        }
        return try retrying(until: deadline) { try settle($0, until: deadline); return try query(sql, on: $0, until: deadline) }
    }

    // MARK: - Statements that are sent ahead

    // A node goes on with the next message after a statement that has failed. That statement may have rolled the transaction back, and what comes behind
    // it would be committed at once. So each is conditional on a mark that is part of the transaction.

    /// Has the next statement be sent without waiting for its answer, if it is one that inserts rows.
    ///
    /// - Parameter changes: How many; 0 if it is to be waited for as usual.
    package func expect(changes: Int64, rowID: Int64?) { ahead.expectation = changes > 0 ? RemoteResult(rowID: rowID, changes: changes) : nil }

    /// How many answers were not what was expected.
    package var failuresAhead: UnsafePointer<Int64> { UnsafePointer(ahead.failures) }

    /// Waits for the answers to what was sent.
    ///
    /// - Throws: ``ClusterFailure`` if the transaction is lost.
    package func settleAhead() throws {
        guard !ahead.expected.isEmpty else { return }
        let deadline = Deadline(after: timeout)
        try joined { try settle($0, until: deadline) }
    }

    private func sendAhead(
        _ statement: RemoteStatement, _ count: CInt, _ values: UnsafeMutablePointer<OpaquePointer?>?, _ expected: RemoteResult
    ) throws -> RemoteResult {
        let deadline = Deadline(after: timeout)
        hasWritten = true
        return try joined { connection in
            if !ahead.isMarked {
                try settle(connection, until: deadline)
                try execute(token.mark, on: connection, until: deadline)
                ahead.isMarked = true
            }
            let isToBePrepared = statement.runs == 1 && statement.generation == generation
            try receiveAhead(all: isToBePrepared || !unused.isEmpty, on: connection)
            try put(statement, count, values, .exec, .execSQL, on: connection, until: deadline)
            try connection.flush(until: deadline)
            ahead.expected.append(expected)
            changes.pointee = expected.changes
            return expected
        }
    }

    /// Receives answers: all of them, or as many as there are too many to come.
    private func receiveAhead(all: Bool, on connection: NodeConnection) throws {
        while let expected = ahead.nextToReceive(all: all) {
            do {
                let body = try connection.answer(.result, until: Deadline(after: timeout))
                lastRowID = Int64(bitPattern: try body.readU64())
                let changes = Int64(bitPattern: try body.readU64())
                if changes != expected.changes || expected.rowID.map({ $0 != lastRowID }) == true { ahead.noteFailure(mayHaveRolledBack: true) }
            } catch let error as RemoteError where !error.endsConnection {
                ahead.noteFailure(mayHaveRolledBack: Self.mayHaveRolledBack(error.code))
            }
        }
        if all, ahead.takeSuspicion() { try checkIsOpen(connection) }
    }

    // MARK: - Rows

    func advance(_ rows: RowSource) throws {
        if rows.advance() { return }
        if let failure = rows.failure { throw failure }
        guard active === rows, let connection else { throw ClusterFailure(.moved, "the rows are of a connection that has ended") }
        let deadline = Deadline(after: timeout)
        func next(_ connection: NodeConnection) throws {
            try rows.add(connection.answer(.rows, until: deadline))
            if rows.isComplete { active = nil }
        }
        if case .open = transaction {
            try joined(next)
        } else {
            do {
                try next(connection)
            } catch ConnectionFailure.deadline {
                disconnect()
                throw timeoutFailure("the statement")
            } catch ConnectionFailure.cancelled {
                disconnect()
                throw ClusterFailure(.cancelled, "interrupted")
            } catch let error as RemoteError where !error.endsConnection {
                active = nil
                throw error
            } catch {
                disconnect()
                throw ClusterFailure(.moved, "the connection to the leader was lost while rows were read; run the statement again")
            }
        }
        _ = rows.advance()
    }

    func end(_ rows: RowSource) { rows.isAbandoned = true }

    /// How much of what nothing reads any more is received before the connection is ended instead.
    private static let mostUnread = 4 << 20
    /// How much is kept of rows that are read while other statements run.
    private static let mostKept = 64 << 20

    /// Has the rows that the node still sends come: it reads nothing before it has sent them.
    private func settle(_ connection: NodeConnection, until deadline: Deadline) throws {
        try receiveAhead(all: true, on: connection)
        ahead.isMarked = false
        defer { active = nil }
        guard let rows = active else { return }
        var size = 0
        while !rows.isComplete {
            let page = try connection.answer(.rows, until: deadline)
            size += page.length
            try rows.add(page)
            if rows.isAbandoned, size > Self.mostUnread, transaction == .none { throw ConnectionFailure.lost("rows were left unread") }
            if size > Self.mostKept {
                throw ConnectionFailure.lost("a statement ran while more than \(Self.mostKept >> 20) MB of the rows of another one were unread")
            }
        }
    }

    // MARK: - Messages

    private func put(_ sql: String, _ type: RequestType, on connection: NodeConnection) throws {
        try connection.put(type) {
            pcl_put_u64(&$0, 0)
            $0.put(sql)
        }
    }

    private func execute(_ sql: String, on connection: NodeConnection, until deadline: Deadline) throws {
        try put(sql, .execSQL, on: connection)
        try connection.flush(until: deadline)
        _ = try connection.answer(.result, until: deadline)
    }

    private func query(_ sql: String, on connection: NodeConnection, until deadline: Deadline) throws -> [[RemoteValue]] {
        try put(sql, .querySQL, on: connection)
        try connection.flush(until: deadline)
        let rows = try RowSource(first: connection.answer(.rows, until: deadline))
        while !rows.isComplete { try rows.add(connection.answer(.rows, until: deadline)) }
        return try rows.values()
    }

    /// Puts a statement with its values: as text the first time, prepared from the second time on.
    private func put(
        _ statement: RemoteStatement, _ count: CInt, _ values: UnsafeMutablePointer<OpaquePointer?>?, _ prepared: RequestType,
        _ text: RequestType, on connection: NodeConnection, until deadline: Deadline
    ) throws {
        if statement.generation != generation { (statement.generation, statement.runs, statement.id) = (generation, 0, nil) }
        statement.runs += 1
        try finalizeUnused(on: connection, until: deadline)
        if statement.runs == 2 { statement.id = try prepare(statement, on: connection, until: deadline) }
        try connection.put(statement.id == nil ? text : prepared) { buffer in
            if let id = statement.id {
                pcl_put_u32(&buffer, 0)
                pcl_put_u32(&buffer, id)
            } else {
                pcl_put_u64(&buffer, 0)
                buffer.put(statement.sql)
            }
            try Self.put(count, values, to: &buffer)
        }
    }

    private static func put(_ count: CInt, _ values: UnsafeMutablePointer<OpaquePointer?>?, to buffer: inout pcl_buffer) throws {
        var position: CInt = 0
        switch pcl_put_parameters(&buffer, count, values, &position) {
        case PCL_TOO_MANY_PARAMETERS:
            throw ClusterFailure(.refused, "a statement may have 255 parameters at most in a cluster, this one has \(count)")
        case PCL_NUL_IN_TEXT:
            throw ClusterFailure(
                .refused, "parameter \(position) is a text that contains a NUL byte, which a cluster would cut there; write it as a blob: perilune.blob(s)")
        default: break
        }
    }

    private func prepare(_ statement: RemoteStatement, on connection: NodeConnection, until deadline: Deadline) throws -> UInt32 {
        try put(statement.sql, .prepare, on: connection)
        try connection.flush(until: deadline)
        let body = try connection.answer(.statement, until: deadline)
        _ = try body.readU32()
        return try body.readU32()
    }

    /// Remembers that a prepared statement is not used any more. May be called while SQLite runs.
    func finalizeLater(_ id: UInt32, generation: UInt64) {
        if generation == self.generation, connection != nil { unused.append(id) }
    }

    private func finalizeUnused(on connection: NodeConnection, until deadline: Deadline) throws {
        guard !unused.isEmpty else { return }
        let ids = unused
        unused = []
        for id in ids {
            try connection.put(.finalize) {
                pcl_put_u32(&$0, 0)
                pcl_put_u32(&$0, id)
            }
        }
        try connection.flush(until: deadline)
        for _ in ids { _ = try connection.answer(.empty, until: deadline) }
    }

    // MARK: - The schema

    /// Whether it is time to ask whether another client has changed the schema.
    package var wantsSchemaCheck: Bool { isSchemaOutdated || (schemaCheck.isOver && transaction == .none) }

    /// Asks whether another client has changed the schema.
    package func checkSchema() throws { noteSchema(try query("PRAGMA schema_version").first?.first?.integer) }

    /// To be called when the schema here is that of a version.
    func didLoadSchema(_ version: Int64?) {
        schemaVersion = version
        noteSchema(version)
    }

    // MARK: - The whole database

    /// The bytes of the database, as a file in the format of SQLite and its log.
    package func dump() throws -> [(name: String, bytes: [UInt8])] {
        let deadline = Deadline(after: max(timeout, .seconds(60)))
        return try retrying(until: deadline) { connection in
            try settle(connection, until: deadline)
            try connection.put(.dump) { $0.put(database.name) }
            try connection.flush(until: deadline)
            let body = try connection.answer(.files, most: 4 << 30, until: deadline)
            let count = try body.readU64()
            guard count <= 16 else { throw ConnectionFailure.lost("the node has sent \(count) files") }
            return try (0..<count).map { _ in (try body.readText(), try body.readFile()) }
        }
    }

    /// The nodes of the cluster.
    package func servers() throws -> [(id: UInt64, name: String, role: UInt64)] {
        let deadline = Deadline(after: timeout)
        return try retrying(until: deadline) { connection in
            try settle(connection, until: deadline)
            return try connection.servers(until: deadline)
        }
    }
}

extension MessageBody {
    /// The first value of the only row, in a message with rows.
    fileprivate func firstInteger() throws -> Int64? { try RowSource(first: self).values().first?.first?.integer }
}

extension Duration {
    /// For messages: "5s", "250ms".
    package var text: String {
        let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
        return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
    }
}
