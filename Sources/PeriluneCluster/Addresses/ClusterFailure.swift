/// The reason why an operation on a cluster failed.
package struct ClusterFailure: Error, Equatable, CustomStringConvertible {
    package enum Kind: String, Sendable {
        /// An argument is invalid.
        case argument
        /// Clusters do not support the operation.
        case refused = "cluster_refused"
        /// No node answers, or no node knows a leader.
        case unreachable = "cluster_unreachable"
        /// The leader has changed, or the connection was lost. Nothing was committed, so the operation can be repeated.
        case moved = "cluster_moved"
        /// No response arrived before the deadline. Nothing was committed.
        case timeout = "cluster_timeout"
        /// A commit may or may not have happened, and that could not be determined before the deadline.
        case unknown = "cluster_unknown"
        /// Another client is writing.
        case busy
        /// The script was ended during the operation.
        case cancelled
    }

    package let kind: Kind
    package let message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    package var description: String { message }

    /// The corresponding SQLite result code.
    var code: CInt {
        switch kind {
        case .busy: 5  // SQLITE_BUSY
        case .cancelled: 9  // SQLITE_INTERRUPT
        case .argument, .refused: 1  // SQLITE_ERROR
        case .unreachable: 14  // SQLITE_CANTOPEN
        case .moved, .timeout, .unknown: 10  // SQLITE_IOERR
        }
    }
}

/// An SQLite or dqlite error that a node has returned.
package struct RemoteError: Error, Equatable, CustomStringConvertible {
    /// An SQLite extended result code, or a dqlite code.
    package let code: UInt64
    package let message: String

    package var description: String { "\(message) (code \(code))" }

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
