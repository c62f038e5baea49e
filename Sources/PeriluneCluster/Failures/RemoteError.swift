internal import PeriluneRecords

/// An SQLite or dqlite error that a node returned.
struct RemoteError: Error, Equatable, CustomStringConvertible {
    /// An SQLite extended result code, or a dqlite code.
    let code: UInt64
    let message: String

    var description: String { "\(message) (code \(code))" }

    /// Whether the connection is unusable, because the node is not the leader or no longer knows the connection's database or
    /// statement.
    var endsConnection: Bool {
        switch code {
        // In this order: unknown error, unknown database or statement, not the leader, lost leadership, protocol error, parse
        // error.
        case 0, 12, 10250, 10506, 1001, 1005: true
        default: false
        }
    }

    /// Whether a commit that failed with this error may still take effect, because the leader sent it to other nodes but could not
    /// write it to its own disk. Nodes with in-memory disks do not return such errors.
    var leavesCommitOpen: Bool { !endsConnection && [4, 10].contains(code & 0xFF) }  // SQLITE_ABORT, SQLITE_IOERR

    var isBusy: Bool { code & 0xFF == 5 }

    /// Whether SQLite may have rolled back the transaction. Errors in SQL, writes in read transactions and type mismatches do not
    /// cause a rollback.
    var mayHaveRolledBack: Bool { ![1, 8, 20].contains(code & 0xFF) }
}

/// The reason why a connection to a node is unusable.
enum ConnectionFailure: Error {
    /// The connection was closed or lost, or the node sent malformed data.
    case lost(String)
    case deadline
    /// The node sent data that the client does not accept, such as a row that is too large or endless pages.
    case refused(ClusterFailure)
    /// The script must end.
    case cancelled
}
