internal import PeriluneRecords
/// Commits, and finding out the outcome of a commit without a response.
extension ClusterSession {
    /// Commits the open transaction.
    ///
    /// - Throws: ``ClusterFailure`` of kind `moved` or `timeout` if it was not committed, of kind `unknown` if the outcome could
    /// not be determined; ``RemoteError`` if the transaction is still open.
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
            // The transaction may have begun as a read transaction.
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

    /// Creates the token table outside of a transaction.
    func makeTokenTable(on connection: LeaderConnection, until deadline: Deadline) throws {
        if hasTokenTable { return }
        let former = try schemaVersion(on: connection, until: deadline)
        do {
            try connection.execute(CommitToken.definition, until: deadline)
        } catch let error as RemoteError where error.leavesCommitOpen {
            // The next leader has the table, or creates it.
            do { try awaitEnd(ofLeadOf: connection, until: deadline) } catch ConnectionFailure.deadline { throw error }
            throw ConnectionFailure.lost(error.description)
        }
        hasTokenTable = true
        // Nothing local depends on this table.
        schema.didChange(try schemaVersion(on: connection, until: deadline), from: former)
    }

    /// Returns whether the commit has happened.
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

    /// Determines whether the last commit, which had no definite response, has happened.
    ///
    /// - Parameters:
    ///   - reason: Why the outcome is unknown.
    ///   - failed: A leader that must not be asked while it leads. Other nodes may have the commit in their logs at a place where its
    /// own log does not; its next write would take that place.
    ///
    /// A missing token is not proof: an entry of a previous leader could still be committed later. A write by the new leader in the
    /// transaction that found no token settles it, because entries that are not before it in the log never will be.
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

    /// Waits until a node no longer leads, or has lost the connection in which it led. A leader that cannot write transfers
    /// leadership by itself from libraft 0.17 on. An older one ends, or keeps leading and is asked to transfer after a while.
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
