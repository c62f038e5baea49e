/// Why something could not be done in a cluster.
package struct ClusterFailure: Error, Equatable, CustomStringConvertible {
    package enum Kind: String, Sendable {
        /// What was given cannot be meant.
        case argument
        /// A cluster cannot do it.
        case refused = "cluster_refused"
        /// No node answers, or none knows a leader.
        case unreachable = "cluster_unreachable"
        /// The leader has changed, or the connection was lost. Nothing was committed, so that it may be run again.
        case moved = "cluster_moved"
        /// No answer came before the deadline. Nothing was committed.
        case timeout = "cluster_timeout"
        /// Whether a commit has happened could not be found out before the deadline.
        case unknown = "cluster_unknown"
        /// Another client writes.
        case busy
        /// The script was ended meanwhile.
        case cancelled
    }

    package let kind: Kind
    package let message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    package var description: String { message }

    /// SQLite's code for it.
    var code: CInt {
        switch kind {
        case .busy: 5 // SQLITE_BUSY
        case .cancelled: 9 // SQLITE_INTERRUPT
        case .argument, .refused: 1 // SQLITE_ERROR
        case .unreachable: 14 // SQLITE_CANTOPEN
        case .moved, .timeout, .unknown: 10 // SQLITE_IOERR
        }
    }
}

/// An error of SQLite, or of dqlite, that a node has answered with.
package struct RemoteError: Error, Equatable, CustomStringConvertible {
    /// SQLite's extended result code, or one of dqlite's own.
    package let code: UInt64
    package let message: String

    package var description: String { "\(message) (code \(code))" }

    /// Whether the connection is of no use any more: the node does not lead, or has lost the database of the connection.
    var endsConnection: Bool {
        switch code {
        case 0, 12, 10250, 10506, 1001, 1005: true // unknown; no database or statement; not the leader; lost leadership; protocol; parse
        default: false
        }
    }

    /// Whether a commit that was answered so may have happened, or happen yet: the leader could not write it to its own disk, when it had sent it
    /// to other nodes. The memory that SQLite takes for a disk in a node gives no such errors.
    var leavesCommitOpen: Bool { !endsConnection && [4, 10].contains(code & 0xFF) } // SQLITE_ABORT, SQLITE_IOERR

    var isBusy: Bool { code & 0xFF == 5 }

    /// Whether SQLite may have rolled the transaction back: not for a mistake in SQL, in a transaction that reads, or with types.
    var mayHaveRolledBack: Bool { ![1, 8, 20].contains(code & 0xFF) }
}

/// Why a connection to a node is of no use any more.
enum ConnectionFailure: Error {
    /// The node, or what is between, has ended it, or has sent what cannot be read.
    case lost(String)
    case deadline
    /// The node sends what is not accepted: more in one row, or pages without an end.
    case refused(ClusterFailure)
    /// The script is to end.
    case cancelled
}
