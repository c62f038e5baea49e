internal import CPeriluneCluster
internal import PeriluneRecords

/// A connection to the leader, with the state that is lost when it closes: the transaction, prepared statements and unread rows.
final class LeaderConnection {
    private let node: NodeConnection
    /// The rows of the statement whose pages the node is still sending.
    private var active: RowPages?
    /// The ids of prepared statements that can be finalized.
    private var unused: [UInt32] = []
    private var ahead = StatementsAhead()
    private var enforcesForeignKeys = true
    /// The value of `last_insert_rowid()`; `nil` if it is unknown because a failed statement may have changed it.
    private var lastRowID: Int64? = 0

    init(_ node: NodeConnection) { self.node = node }

    var address: ServerAddress { node.address }

    func close() {
        node.close()
        active?.failure = ClusterFailure(
            .moved, "the connection to the leader was lost while rows were read; run the statement again")
        active = nil
    }

    // MARK: - Texts

    func execute(_ sql: String, until deadline: Deadline) throws {
        try put(sql, .execSQL)
        try node.flush(until: deadline)
        _ = try node.answer(.result, until: deadline)
    }

    func query(_ sql: String, until deadline: Deadline) throws -> [[RemoteValue]] {
        try put(sql, .querySQL)
        try node.flush(until: deadline)
        return try allRows(until: deadline).values()
    }

    /// Executes SQL and runs a query in a single round trip.
    func execute(_ sql: String, thenQuery question: String, until deadline: Deadline) throws -> [[RemoteValue]] {
        try put(sql, .execSQL)
        try put(question, .querySQL)
        try node.flush(until: deadline)
        return try answerThenQueried(until: deadline) { _ = try node.answer(.result, until: deadline) }.rows
    }

    /// Receives a response, and the rows of the query that was sent with the request. The rows arrive even if the request failed.
    private func answerThenQueried<Answer>(until deadline: Deadline, _ answer: () throws -> Answer) throws -> (
        answer: Answer, rows: [[RemoteValue]]
    ) {
        let first: Answer
        do { first = try answer() } catch let error as RemoteError {
            _ = try node.answer(.rows, until: deadline)
            throw error
        }
        return (first, try allRows(until: deadline).values())
    }

    private func allRows(until deadline: Deadline) throws -> RowPages {
        let rows = try RowPages(first: node.answer(.rows, until: deadline))
        while !rows.isComplete { try rows.add(node.answer(.rows, until: deadline)) }
        return rows
    }

    /// Enables or disables foreign key enforcement. Must be called outside a transaction.
    func setForeignKeys(_ areEnforced: Bool, until deadline: Deadline) throws {
        guard areEnforced != enforcesForeignKeys else { return }
        try execute("PRAGMA foreign_keys = \(areEnforced ? 1 : 0)", until: deadline)
        enforcesForeignKeys = areEnforced
    }

    private func put(_ sql: String, _ type: RequestType) throws {
        try node.put(type) {
            pcl_put_u64(&$0, 0)
            $0.put(sql)
        }
    }

    // MARK: - Statements

    /// Runs a statement that reads, whose rows arrive page by page.
    func read(_ call: RemoteCall, until deadline: Deadline) throws -> RowPages {
        try put(call, .query, .querySQL, until: deadline)
        try node.flush(until: deadline)
        let rows = try RowPages(first: node.answer(.rows, until: deadline))
        active = rows.isComplete ? nil : rows
        return rows
    }

    /// Runs a statement that writes and returns rows, and receives all of its rows.
    func changeReturning(_ call: RemoteCall, until deadline: Deadline) throws -> (rows: RowPages, result: RemoteResult) {
        let former = try takeRowID(before: call.statement, until: deadline)
        try put(call, .query, .querySQL, until: deadline)
        try put("SELECT last_insert_rowid(), changes()", .querySQL)
        try node.flush(until: deadline)
        let (rows, counts) = try answerThenQueried(until: deadline) { try allRows(until: deadline) }
        return (
            rows,
            result(
                of: call.statement, rowID: counts.first?.first?.integer ?? 0, changes: counts.first?.last?.integer ?? 0,
                former: former)
        )
    }

    /// Runs a statement that writes.
    func change(_ call: RemoteCall, until deadline: Deadline) throws -> RemoteResult {
        let former = try takeRowID(before: call.statement, until: deadline)
        try put(call, .exec, .execSQL, until: deadline)
        try node.flush(until: deadline)
        let body = try node.answer(.result, until: deadline)
        return result(
            of: call.statement, rowID: Int64(bitPattern: try body.readU64()), changes: Int64(bitPattern: try body.readU64()),
            former: former)
    }

    private func result(of statement: RemoteStatement, rowID: Int64, changes: Int64, former: Int64?) -> RemoteResult {
        lastRowID = rowID
        return RemoteResult(
            rowID: statement.hasInserted(changes: changes, rowID: rowID, former: former) ? rowID : nil, changes: changes)
    }

    /// Discards the known value of `last_insert_rowid()` after SQL that may have changed it.
    func forgetRowID() { lastRowID = nil }

    /// Returns the value of `last_insert_rowid()` before a statement that may update a row instead of inserting one. Marks the
    /// value as unknown until the statement succeeds.
    private func takeRowID(before statement: RemoteStatement, until deadline: Deadline) throws -> Int64? {
        defer { lastRowID = nil }
        guard statement.insertion == .perhaps else { return nil }
        return try lastRowID ?? query("SELECT last_insert_rowid()", until: deadline).first?.first?.integer
    }

    /// Sends a statement with its values. Its first run sends the SQL text; later runs use a prepared statement.
    private func put(_ call: RemoteCall, _ prepared: RequestType, _ text: RequestType, until deadline: Deadline) throws {
        let kept = PreparedStatement.of(call.statement, on: self)
        kept.noteRun()
        try finalizeUnused(until: deadline)
        if kept.runs == 2 { kept.id = try prepare(call.statement.sql, until: deadline) }
        try node.put(kept.id == nil ? text : prepared) { buffer in
            if let id = kept.id {
                pcl_put_u32(&buffer, 0)
                pcl_put_u32(&buffer, id)
            } else {
                pcl_put_u64(&buffer, 0)
                buffer.put(call.statement.sql)
            }
            try call.put(to: &buffer)
        }
    }

    private func prepare(_ sql: String, until deadline: Deadline) throws -> UInt32 {
        try put(sql, .prepare)
        try node.flush(until: deadline)
        let body = try node.answer(.statement, until: deadline)
        _ = try body.readU32()
        return try body.readU32()
    }

    /// Schedules a prepared statement for finalization. May be called while SQLite is running.
    func finalizeLater(_ id: UInt32) { unused.append(id) }

    private func finalizeUnused(until deadline: Deadline) throws {
        guard !unused.isEmpty else { return }
        let ids = unused
        unused = []
        for id in ids {
            try node.put(.finalize) {
                pcl_put_u32(&$0, 0)
                pcl_put_u32(&$0, id)
            }
        }
        try node.flush(until: deadline)
        for _ in ids { _ = try node.answer(.empty, until: deadline) }
    }

    // MARK: - Statements that are sent ahead

    /// Whether the transaction contains the mark on which statements sent ahead depend.
    var isMarked: Bool {
        get { ahead.isMarked }
        set { ahead.isMarked = newValue }
    }

    /// Sends a statement without waiting for its response.
    func sendAhead(_ call: RemoteCall, expecting expected: RemoteResult, until deadline: Deadline) throws {
        let isToBePrepared = PreparedStatement.of(call.statement, on: self).runs == 1
        try receiveAhead(all: isToBePrepared || !unused.isEmpty, until: deadline)
        try put(call, .exec, .execSQL, until: deadline)
        try node.flush(until: deadline)
        ahead.append(expected)
    }

    /// Returns the failures of statements sent ahead, and resets them.
    func takeFailuresAhead() -> StatementsAhead.Failures { ahead.takeFailures() }

    private func receiveAhead(all: Bool, until deadline: Deadline) throws {
        while let expected = ahead.nextToReceive(all: all) {
            do {
                let body = try node.answer(.result, until: deadline)
                let rowID = Int64(bitPattern: try body.readU64()), changes = Int64(bitPattern: try body.readU64())
                lastRowID = rowID
                if changes != expected.changes || expected.rowID.map({ $0 != rowID }) == true { ahead.noteFailure(nil) }
            } catch let error as RemoteError where !error.endsConnection {
                lastRowID = nil
                ahead.noteFailure(error)
            }
        }
    }

    // MARK: - Rows

    /// Receives the next page of rows.
    func receivePage(of rows: RowPages, until deadline: Deadline) throws {
        try rows.add(node.answer(.rows, until: deadline))
        if rows.isComplete { active = nil }
    }

    func isReading(_ rows: RowPages) -> Bool { active === rows }

    /// Discards the active rows after a failure has arrived in place of a page.
    func forgetRows() { active = nil }

    /// Marks the rows that are still arriving as unwanted.
    func abandonRows() { active?.isAbandoned = true }

    /// The maximum size of unwanted rows that are received and discarded, in bytes. If more arrive, the connection is closed.
    private static let mostUnread = 4 << 20
    /// The maximum size of rows that are buffered for other statements to run, in bytes.
    private static let mostKept = 64 << 20

    /// Receives all outstanding responses and rows, because the node reads the next request only after it has sent them. Called
    /// before each statement that is not sent ahead.
    func settle(until deadline: Deadline, isInTransaction: Bool) throws {
        try receiveAhead(all: true, until: deadline)
        ahead.isMarked = false
        defer { active = nil }
        guard let rows = active else { return }
        var size = 0
        while !rows.isComplete {
            let page = try node.answer(.rows, until: deadline)
            size += page.length
            try rows.add(page)
            if rows.isAbandoned, size > Self.mostUnread, !isInTransaction {
                throw ConnectionFailure.lost("rows were left unread")
            }
            if size > Self.mostKept {
                throw ConnectionFailure.lost(
                    "a statement ran while more than \(Self.mostKept >> 20) MB of the rows of another one were unread")
            }
        }
    }

    // MARK: - The cluster

    func refresh(_ members: inout ClusterMembers, until deadline: Deadline) throws {
        try members.refresh(on: node, until: deadline)
    }

    func servers(until deadline: Deadline) throws -> [(id: UInt64, name: String, role: UInt64)] {
        try node.servers(until: deadline)
    }

    /// Asks the node to transfer leadership to another voter.
    func giveLeadAway(until deadline: Deadline) throws {
        for server in try servers(until: deadline) where server.role == 0 && server.name != address.name {
            do { return try node.giveLead(to: server.id, until: deadline) } catch let error as RemoteError
                where !error.endsConnection
            { continue }
        }
    }

    /// Returns the database file and its write-ahead log.
    func dump(_ name: String, until deadline: Deadline) throws -> [(name: String, bytes: [UInt8])] {
        try node.put(.dump) { $0.put(name) }
        try node.flush(until: deadline)
        let body = try node.answer(.files, most: 4 << 30, until: deadline)
        let count = try body.readU64()
        guard count <= 16 else { throw ConnectionFailure.lost("the node has sent \(count) files") }
        return try (0..<count).map { _ in (try body.readText(), try body.readFile()) }
    }
}
