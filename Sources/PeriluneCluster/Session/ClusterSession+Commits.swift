internal import PeriluneRecords
/// Commits, and the recovery of a commit's outcome if the leader gave no definite response.
extension ClusterSession {
    /// Commits the open transaction.
    ///
    /// - Throws: ``ClusterFailure`` of kind `moved` or `timeout` if the transaction was not committed, of kind `unknown` if the
    ///   outcome could not be determined; ``RemoteError`` if the transaction is still open.
    func commit() throws {
        switch transaction {
        case .none: return
        case .lost(let failure): throw failure
        case .open: break
        }
        let deadline = Deadline(after: timeout)
        guard hasWritten else {
            try? joined {
                try settle($0, until: deadline); try $0.execute("COMMIT", until: deadline)
            }
            transaction = .none
            return
        }
        var version: Int64?
        try joined { connection in
            try settle(connection, until: deadline)
            // The table may be missing if the transaction began as a read transaction.
            if !hasTokenTable { try connection.execute(CommitToken.definition, until: deadline) }
            if hasChangedSchema { version = try schemaVersion(on: connection, until: deadline) }
            try connection.execute(token.next(), until: deadline)
        }
        if try sendCommit(until: deadline) {
            transaction = .none
            hasTokenTable = true
            if hasChangedSchema { schema.didChange(version) }
            return
        }
        throw lose("it did not complete the commit, which has not happened")
    }

    private func schemaVersion(on connection: LeaderConnection, until deadline: Deadline) throws -> Int64? {
        try connection.query(SchemaVersion.question, until: deadline).first?.first?.integer
    }

    /// Creates the table of commit tokens, outside a transaction.
    func makeTokenTable(on connection: LeaderConnection, until deadline: Deadline) throws {
        if hasTokenTable { return }
        let former = try schemaVersion(on: connection, until: deadline)
        do {
            try connection.execute(CommitToken.definition, until: deadline)
        } catch let error as RemoteError where error.leavesCommitOpen {
            // The creation may still take effect. The next attempt runs on the next leader, which finds or creates the table.
            do { try awaitEnd(ofLeadOf: connection, until: deadline) } catch ConnectionFailure.deadline { throw error }
            throw ConnectionFailure.lost(error.description)
        }
        hasTokenTable = true
        // The local schema does not need this table, so it is still up to date.
        schema.didChange(try schemaVersion(on: connection, until: deadline), from: former)
    }

    /// Sends COMMIT. Returns whether the transaction was committed.
    private func sendCommit(until deadline: Deadline) throws -> Bool {
        guard let connection else { return false }
        do {
            try connection.execute("COMMIT", until: deadline)
            return true
        } catch let error as RemoteError where error.leavesCommitOpen {
            return try lookUpCommit("the leader could not complete the commit (\(error))", afterLeadOf: connection)
        } catch let error as RemoteError where !error.endsConnection {
            throw error
        } catch {
            disconnect()
            return try lookUpCommit("the leader did not answer the commit")
        }
    }

    /// Determines whether the last commit, which had no definite response, has taken effect.
    ///
    /// - Parameters:
    ///   - reason: The reason why the outcome is unknown.
    ///   - failed: A leader that failed to write the commit to its disk and must not be asked. Other nodes may have the commit in
    ///     their logs at an index where the leader's log does not. The leader's next write would overwrite this index.
    ///
    /// A missing token does not prove that the commit failed, because a log entry of a previous leader could still be committed
    /// later. Therefore the transaction that finds no token also writes. Once this write is committed, entries that do not precede
    /// it in the log can never be committed.
    private func lookUpCommit(_ reason: String, afterLeadOf failed: LeaderConnection? = nil) throws -> Bool {
        transaction = .none
        let deadline = Deadline(after: max(timeout, .seconds(15)))
        let number = token.number
        do {
            if let failed { try awaitEnd(ofLeadOf: failed, until: deadline) }
            while true {
                do {
                    try begin(.immediate, until: deadline)
                    guard let connection else { throw ConnectionFailure.lost("") }
                    let found = try connection.query(token.question, until: deadline).first?.first?.integer ?? 0
                    if found >= number {
                        rollBack()
                        return true
                    }
                    try connection.execute(token.fence(before: number), until: deadline)
                    try connection.execute("COMMIT", until: deadline)
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
                .unknown,
                "\(reason), and the result of the commit is unknown; check whether its rows were written before you run it again")
            transaction = .lost(failure)
            throw failure
        }
    }

    /// Waits until a node is no longer the leader, or the connection to it is lost. Since libraft 0.17, a leader that cannot write
    /// transfers leadership by itself. An older node terminates or stays the leader; after one second, it is asked to transfer
    /// leadership.
    private func awaitEnd(ofLeadOf connection: LeaderConnection, until deadline: Deadline) throws {
        defer { disconnect() }
        var pauses = BackOff(from: 20, to: 200), patience: Deadline? = Deadline(after: .seconds(1))
        while true {
            do {
                _ = try connection.query("SELECT 1", until: deadline)
                if patience?.isOver == true {
                    patience = nil
                    try connection.giveLeadAway(until: deadline)
                }
            } catch let error as RemoteError {
                if error.endsConnection { return }
            } catch ConnectionFailure.lost {
                return
            }
            try pauses.wait(until: deadline, isCancelled)
        }
    }
}
