/// What runs statements in a database elsewhere: the seam between carriers, which SQLite steps here, and a protocol. ``ClusterSession`` is that of
/// dqlite; another one needs no more than this.
///
/// One connection's worth: statements run one after the other, in the transaction that is open.
protocol RemoteEngine: AnyObject {
    /// Runs a statement that gives rows.
    func rows(of call: RemoteCall) throws -> any RemoteRows
    /// Runs a statement that gives no rows.
    func run(_ call: RemoteCall) throws -> RemoteResult
    func begin(_ kind: TransactionKind) throws
    func commit() throws
    func rollBack()
    /// Whether a transaction is open, or has been lost.
    var transaction: TransactionState { get }
    /// What the engine knows of the connection here.
    var local: LocalConnection { get }
}

/// What an engine needs to know of the connection here, and is to say to it.
struct LocalConnection {
    /// What it is in: a transaction of this kind, or none.
    var transaction: () -> TransactionKind? = { nil }
    var enforcesForeignKeys: () -> Bool = { true }
    /// Has it know the id of a row that was inserted.
    var noteInsertion: (Int64) -> Void = { _ in }
    /// Is given why something could not be done, beside what SQLite says of it.
    var noteFailure: (ClusterFailure) -> Void = { _ in }
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
