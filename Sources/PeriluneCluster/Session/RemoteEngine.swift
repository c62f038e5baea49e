/// What can run statements in a database elsewhere: the seam between carriers, which SQLite steps here, and a protocol.
///
/// One connection's worth: statements run one after the other, in the transaction that is open.
protocol RemoteEngine: AnyObject {
    /// Runs a statement that gives rows.
    func rows(of call: RemoteCall) throws -> RowSource
    /// Has the next page of rows come.
    func advance(_ rows: RowSource) throws
    /// Lets go of rows.
    func end(_ rows: RowSource)
    /// Runs a statement that gives no rows.
    func run(_ call: RemoteCall) throws -> RemoteResult
    func begin(_ kind: TransactionKind) throws
    func commit() throws
    func rollBack()
    /// Whether a transaction is open, or has been lost.
    var transaction: TransactionState { get }
}

package enum TransactionKind: String, Sendable {
    case deferred = "DEFERRED", immediate = "IMMEDIATE", exclusive = "EXCLUSIVE"
}

package enum TransactionState: Equatable, Sendable {
    case none
    case open(TransactionKind)
    /// It was open, and is rolled back. What comes in it must fail.
    case lost(ClusterFailure)
}

/// What a statement without rows has done.
struct RemoteResult {
    /// The id of the row that it has inserted, if it has.
    var rowID: Int64?
    var changes: Int64
}
