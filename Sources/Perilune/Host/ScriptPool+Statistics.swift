// Statistics of a pool, for monitoring.

extension ScriptPool {
    /// The reason why a pool has closed a host.
    public enum DiscardReason: String, Sendable, CaseIterable {
        /// A script exceeded a limit.
        case limit
        /// A run was cancelled.
        case cancelled
        /// The scripts' process ended unexpectedly.
        case crashed
        /// The host was unused for longer than the pool's idle limit.
        case idle
        /// The pool was reloaded.
        case reloaded
    }

    /// A host that a pool has closed.
    public struct Discard: Sendable {
        /// The reason why the pool closed the host.
        public let reason: DiscardReason
        /// The error of the call that used the host; `nil` if no call was using it.
        public let error: (any Error)?
    }

    /// The current numbers of a pool's hosts and waiting calls, and totals since the pool was created.
    public struct Statistics: Sendable {
        /// The number of hosts that serve a call or are being created for one.
        public internal(set) var busy = 0
        /// The number of free hosts.
        public internal(set) var idle = 0
        /// The number of spare hosts, which are ready to replace discarded ones.
        public internal(set) var spares = 0
        /// The number of calls that wait for a host.
        public internal(set) var waiting = 0
        /// The number of calls that have received a host.
        public internal(set) var served = 0
        /// The number of rejected calls, by ``ScriptPoolError/code``.
        public internal(set) var refused: [ScriptPoolError.Code: Int] = [:]
        /// The number of hosts that were created and prepared without an error.
        public internal(set) var made = 0
        /// The number of closed hosts, by reason.
        public internal(set) var discarded: [DiscardReason: Int] = [:]
        /// The host that was closed last.
        public internal(set) var lastDiscard: Discard?
        /// The longest wait of a call for a host.
        public internal(set) var longestWait = Duration.zero
    }
}
