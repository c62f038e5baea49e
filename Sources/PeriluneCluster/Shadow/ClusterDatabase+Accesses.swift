internal import GRDB
internal import PeriluneRecords

/// The accesses of scripts to a cluster database.
extension ClusterDatabase {
    func refuse(_ error: @autoclosure () -> any Error) throws { throw error() }

    func nodes() throws -> [ClusterNode] {
        try Self.asDatabaseErrors {
            try session.servers().map { node in
                let role = node.role == 0 ? "voter" : node.role == 1 ? "standby" : "spare"
                return ClusterNode(id: node.id, name: node.name, role: role, isLeader: node.name == session.leader)
            }
        }
    }

    func access<Client: PlaceClient>(_ db: Database, for client: Client, _ body: () throws -> Void) throws {
        session.isCancelled = Client.isCancelled
        // The statement fails with an SQLite error, so the error that the script must see is stored.
        session.onFailure = { failure in client.keep(failure) }
        defer {
            session.onFailure = { _ in }
            endAccess()
        }
        try Self.asDatabaseErrors {
            if client.isStatement, session.wantsSchemaCheck { try session.checkSchema() }
            try refresh(db, for: client)
            try body()
        }
    }

    func begin(_ kind: Database.TransactionKind, on db: Database, for client: some PlaceClient) throws {
        try beginRemotely(TransactionKind(kind))
        try refresh(db, for: client)
    }

    /// Loads the schema again if it is outdated. If the schema was loaded since the client compiled its statements, makes the
    /// client compile them again.
    private func refresh(_ db: Database, for client: some PlaceClient) throws {
        if isOutdated {
            client.forgetStatements(of: db)
            try load(into: db)
        } else if client.knownLoads != loads {
            client.forgetStatements(of: db)
        }
        client.knownLoads = loads
    }

    func inSavepoint(of db: Database, _ body: () throws -> Database.TransactionCompletion) throws {
        try session.execute("SAVEPOINT perilune_savepoint", changesSchema: false)
        var hasEnded = false
        func end(_ completion: Database.TransactionCompletion) throws {
            let undoing = completion == .commit ? "" : "ROLLBACK TO perilune_savepoint; "
            hasEnded = true
            try session.execute(undoing + "RELEASE perilune_savepoint", changesSchema: false)
        }
        do {
            try db.inSavepoint {
                let completion = try body()
                try end(completion)
                return completion
            }
        } catch {
            if !hasEnded, case .open = session.transaction { try? end(.rollback) }
            throw error
        }
    }

    func using<Result>(isCancelled: @escaping () -> Bool, _ body: () throws -> Result) throws -> Result {
        session.isCancelled = isCancelled
        defer { endAccess() }
        return try Self.asDatabaseErrors(body)
    }

    func inTransaction(of db: Database, outdated: any Error, _ body: () throws -> Void) throws {
        try beginRemotely(.immediate)
        guard !isOutdated else { throw outdated }
        try db.inTransaction(.immediate) {
            try body()
            return .commit
        }
    }
}

extension RemoteSession {
    /// Receives the responses to statements sent ahead. Reports a failure to the session, and returns whether none occurred.
    func hasSettledAhead() -> Bool {
        do {
            try settleAhead()
            return true
        } catch let failure as ClusterFailure {
            onFailure(failure)
        } catch {
            onFailure(ClusterFailure(.moved, "the connection to the cluster was lost"))
        }
        return false
    }
}

extension TransactionKind {
    fileprivate init(_ kind: Database.TransactionKind) {
        self =
            switch kind {
            case .deferred: .deferred
            case .immediate: .immediate
            case .exclusive: .exclusive
            }
    }
}
