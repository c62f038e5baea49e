/// The reason why an operation on a cluster failed.
package struct ClusterFailure: Error, Equatable, CustomStringConvertible {
    package enum Kind: String, Sendable {
        /// An argument is invalid.
        case argument
        /// Clusters do not support the operation.
        case refused = "cluster_refused"
        /// No node answers, or no node knows a leader.
        case unreachable = "cluster_unreachable"
        /// The leader has changed, or the connection was lost. Nothing was committed, so the operation can be retried.
        case moved = "cluster_moved"
        /// No response arrived before the deadline. Nothing was committed.
        case timeout = "cluster_timeout"
        /// It is unknown whether a commit happened, and the deadline has passed.
        case unknown = "cluster_unknown"
        /// Another client is writing to the database.
        case busy
        /// The script was cancelled during the operation.
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
    package var code: CInt {
        switch kind {
        case .busy: 5  // SQLITE_BUSY
        case .cancelled: 9  // SQLITE_INTERRUPT
        case .argument, .refused: 1  // SQLITE_ERROR
        case .unreachable: 14  // SQLITE_CANTOPEN
        case .moved, .timeout, .unknown: 10  // SQLITE_IOERR
        }
    }
}
