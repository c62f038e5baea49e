internal import PeriluneRecords
/// An engine that runs statements in a remote database. It separates carriers, which SQLite steps locally, from the wire protocol.
///
/// An engine represents a single connection, on which statements run one after the other in the open transaction.
protocol RemoteEngine: AnyObject {
    /// Runs a statement that returns rows.
    func rows(of call: RemoteCall) throws -> any RemoteRows
    /// Runs a statement that returns no rows.
    func run(_ call: RemoteCall) throws -> RemoteResult
    func begin(_ kind: TransactionKind) throws
    func commit() throws
    func rollBack()
    /// The state of the transaction: none, open or lost.
    var transaction: TransactionState { get }
    /// The engine's access to the local connection.
    var local: LocalConnection { get }
}

/// Closures with which an engine reads the state of the local connection and reports events to it.
struct LocalConnection {
    /// Returns the kind of the open local transaction, or `nil` if no transaction is open.
    var transaction: () -> TransactionKind? = { nil }
    var enforcesForeignKeys: () -> Bool = { true }
    /// Reports the row id of an inserted row.
    var noteInsertion: (Int64) -> Void = { _ in }
    /// Reports the reason for a failure, in addition to SQLite's error.
    var noteFailure: (ClusterFailure) -> Void = { _ in }
}

enum TransactionKind: String, Sendable {
    case deferred = "DEFERRED", immediate = "IMMEDIATE", exclusive = "EXCLUSIVE"
}

enum TransactionState: Equatable, Sendable {
    case none
    case open(TransactionKind)
    /// The node has rolled back the transaction. Further statements of the transaction must fail.
    case lost(ClusterFailure)
}

/// The result of a statement without rows.
struct RemoteResult {
    /// The row id of the inserted row, if any.
    var rowID: Int64?
    var changes: Int64
}
