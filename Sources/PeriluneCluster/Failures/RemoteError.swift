internal import PeriluneRecords

/// An SQLite or dqlite error that a node has returned.
struct RemoteError: Error, Equatable, CustomStringConvertible {
    /// An SQLite extended result code, or a dqlite code.
    let code: UInt64
    let message: String

    var description: String { "\(message) (code \(code))" }

    /// Whether the connection is unusable: the node does not lead, or has lost the connection's database.
    var endsConnection: Bool {
        switch code {
        // Unknown; no database or statement; not the leader; lost leadership; protocol; parse.
        case 0, 12, 10250, 10506, 1001, 1005: true
        default: false
        }
    }

    /// Whether a commit that failed with this error may still happen: the leader could not write it to its disk after sending it to
    /// other nodes. In-memory disks give no such errors.
    var leavesCommitOpen: Bool { !endsConnection && [4, 10].contains(code & 0xFF) }  // SQLITE_ABORT, SQLITE_IOERR

    var isBusy: Bool { code & 0xFF == 5 }

    /// Whether SQLite may have rolled back the transaction. Mistakes in SQL, in read transactions and with types do not.
    var mayHaveRolledBack: Bool { ![1, 8, 20].contains(code & 0xFF) }
}

/// The reason why a connection to a node is unusable.
enum ConnectionFailure: Error {
    /// The connection was closed or lost, or the node has sent malformed data.
    case lost(String)
    case deadline
    /// The node sends something that is not accepted: a row that is too large, or endless pages.
    case refused(ClusterFailure)
    /// The script is to end.
    case cancelled
}
