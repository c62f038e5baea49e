internal import PeriluneRecords
/// An engine that runs statements in a remote database: the seam between carriers, which SQLite steps locally, and a protocol.
///
/// An engine is one connection: statements run one after the other in the open transaction.
protocol RemoteEngine: AnyObject {
    /// Runs a statement that returns rows.
    func rows(of call: RemoteCall) throws -> any RemoteRows
    /// Runs a statement that returns no rows.
    func run(_ call: RemoteCall) throws -> RemoteResult
    func begin(_ kind: TransactionKind) throws
    func commit() throws
    func rollBack()
    /// Whether a transaction is open or has been lost.
    var transaction: TransactionState { get }
    /// The local connection as the engine sees it.
    var local: LocalConnection { get }
}

/// The state of the local connection that an engine reads, and the events that it reports to it.
struct LocalConnection {
    /// The kind of the open transaction, or `nil`.
    var transaction: () -> TransactionKind? = { nil }
    var enforcesForeignKeys: () -> Bool = { true }
    /// Reports the id of an inserted row.
    var noteInsertion: (Int64) -> Void = { _ in }
    /// Reports the reason of a failure, in addition to SQLite's error.
    var noteFailure: (ClusterFailure) -> Void = { _ in }
}

enum TransactionKind: String, Sendable {
    case deferred = "DEFERRED", immediate = "IMMEDIATE", exclusive = "EXCLUSIVE"
}

enum TransactionState: Equatable, Sendable {
    case none
    case open(TransactionKind)
    /// The transaction was rolled back by the node. Statements in it must fail.
    case lost(ClusterFailure)
}

/// The result of a statement without rows.
struct RemoteResult {
    /// The id of the inserted row, if any.
    var rowID: Int64?
    var changes: Int64
}
