// Counts of a pool, for its operators.

extension ScriptPool {
    /// Why a pool has closed one of its hosts.
    public enum DiscardReason: String, Sendable, CaseIterable {
        /// A script passed a limit.
        case limit
        /// A run was cancelled.
        case cancelled
        /// The process of its scripts ended.
        case crashed
        /// No call has needed it for the pool's idle limit.
        case idle
        /// The pool was reloaded.
        case reloaded
    }

    /// A host that a pool has closed.
    public struct Discard: Sendable {
        /// Why it was closed.
        public let reason: DiscardReason
        /// The error of the call that had the host; `nil` if no call had it.
        public let error: (any Error)?
    }

    /// The hosts of a pool, the calls that wait for them, and counts since the pool was made.
    public struct Statistics: Sendable {
        /// How many hosts serve calls, or are being made for one.
        public internal(set) var busy = 0
        /// How many hosts are free.
        public internal(set) var idle = 0
        /// How many hosts are ready to replace others.
        public internal(set) var spares = 0
        /// How many calls wait for a host.
        public internal(set) var waiting = 0
        /// How many calls have been given a host.
        public internal(set) var served = 0
        /// How many calls have been refused: by ``ScriptPoolError/code``.
        public internal(set) var refused: [ScriptPoolError.Code: Int] = [:]
        /// How many hosts have been made, and prepared without an error.
        public internal(set) var made = 0
        /// How many hosts have been closed, by reason.
        public internal(set) var discarded: [DiscardReason: Int] = [:]
        /// The host that was closed last.
        public internal(set) var lastDiscard: Discard?
        /// The longest time that a call has waited for a host.
        public internal(set) var longestWait = Duration.zero
    }
}
