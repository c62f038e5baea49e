internal import GRDB
internal import PeriluneRecords

/// A statement that runs in the cluster and that a carrier represents locally.
struct CarriedStatement: PlacedStatement {
    let carrier: Carrier

    var statement: Statement { carrier.statement }
    var source: String? { carrier.remote.source }
    var carriesReading: Bool? { carrier.remote.isReading }

    func run(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as DatabaseError {
            throw DatabaseError(resultCode: error.extendedResultCode, message: error.message, sql: carrier.remote.source)
        }
    }
}

/// A statement that runs both locally and in the cluster, because it concerns the transaction, the connection or the schema.
struct MirroredStatement: PlacedStatement {
    let statement: Statement
    let text: RemoteText
    private(set) weak var session: (any RemoteSession)?

    var source: String? { nil }
    var carriesReading: Bool? { nil }

    func run(_ body: () throws -> Void) throws {
        guard let session else { return }
        if case .schema(let sql) = text {
            try session.execute(sql, changesSchema: true)
            return try body()
        }
        try body()
        // Only savepoints are sent here. BEGIN is sent together with the next statement, and the transaction observer sends COMMIT
        // and ROLLBACK.
        let sql = statement.sql, word = StatementScan(sql).words
        let isSavepoint = ["SAVEPOINT", "RELEASE"].contains(word.first) || (word.first == "ROLLBACK" && word.contains("TO"))
        if isSavepoint, session.local.transaction() != nil { try session.execute(sql, changesSchema: false) }
    }
}
