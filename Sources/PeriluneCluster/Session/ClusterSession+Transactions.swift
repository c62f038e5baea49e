internal import PeriluneRecords
/// The life cycle of transactions in the cluster.
extension ClusterSession {
    func begin(_ kind: TransactionKind) throws { try begin(kind, until: Deadline(after: timeout)) }

    func begin(_ kind: TransactionKind, until deadline: Deadline) throws {
        let version = try retrying(until: deadline) { connection -> Int64? in
            try settle(connection, until: deadline)
            try connection.refresh(&members, until: deadline)
            try connection.setForeignKeys(local.enforcesForeignKeys(), until: deadline)
            if kind != .deferred { try makeTokenTable(on: connection, until: deadline) }
            return try connection.execute("BEGIN \(kind.rawValue)", thenQuery: SchemaVersion.question, until: deadline).first?
                .first?.integer
        }
        transaction = .open(kind)
        (hasWritten, hasChangedSchema) = (false, false)
        schema.note(version)
    }

    /// Begins a transaction in the cluster if the local connection has an open transaction. Returns whether a transaction is open.
    func joinTransaction() throws -> Bool {
        switch transaction {
        case .lost(let failure): throw failure
        case .open:
            if local.transaction() != nil { return true }
            rollBack()
            return false
        case .none:
            guard let kind = local.transaction() else { return false }
            try begin(kind)
            guard !schema.isOutdated else {
                throw lose(
                    ClusterFailure(.moved, "another client has changed the schema of the database; run the transaction again"))
            }
            return true
        }
    }

    /// Runs a closure in the open transaction. If the connection fails, the transaction is lost.
    func joined<Result>(_ body: (LeaderConnection) throws -> Result) throws -> Result {
        guard let connection else { throw lose("the connection was lost") }
        do {
            return try body(connection)
        } catch let error as RemoteError where error.endsConnection {
            throw lose(error.message)
        } catch let error as RemoteError {
            // Some errors roll back the whole transaction. Only an attempt to begin another transaction shows whether this
            // happened.
            if error.mayHaveRolledBack { try checkIsOpen(connection) }
            throw error
        } catch ConnectionFailure.lost(let reason) {
            throw lose(reason)
        } catch ConnectionFailure.deadline {
            throw lose(timeoutFailure("a statement"))
        } catch ConnectionFailure.refused(let failure) {
            throw lose(failure)
        } catch ConnectionFailure.cancelled {
            throw lose(ClusterFailure(.cancelled, "interrupted"))
        }
    }

    /// Throws if the transaction is no longer open on the node.
    func checkIsOpen(_ connection: LeaderConnection) throws {
        let deadline = Deadline(after: timeout)
        do {
            try settle(connection, until: deadline)
            try connection.execute("BEGIN", until: deadline)
        } catch let error as RemoteError where !error.endsConnection {
            return
        } catch {
            throw lose("the connection was lost")
        }
        throw lose(ClusterFailure(.moved, "the transaction was rolled back by an error in it"))
    }

    func lose(_ reason: String) -> ClusterFailure {
        lose(
            ClusterFailure(
                .moved,
                "the leader of the cluster has changed (\(reason)): the transaction was rolled back, and nothing was committed; run the "
                    + "block again, or have that done: db:write({ retry = 3 }, f)"))
    }

    func lose(_ failure: ClusterFailure) -> ClusterFailure {
        disconnect()
        transaction = .lost(failure)
        return failure
    }

    /// Rolls back an open transaction, and clears the state of a lost one.
    func rollBack() {
        defer { transaction = .none }
        guard case .open = transaction, let connection else { return }
        let deadline = Deadline(after: min(timeout, .seconds(5)))
        do {
            connection.abandonRows()
            try settle(connection, until: deadline)
            try connection.execute("ROLLBACK", until: deadline)
        } catch {
            disconnect()
        }
    }
}
