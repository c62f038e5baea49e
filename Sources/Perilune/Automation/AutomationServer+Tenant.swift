public import Foundation

/// The state of a tenant, as a program sees it.
extension AutomationServer {
    /// A snapshot of a tenant.
    public struct Tenant: Sendable {
        /// The state of a tenant. More states may be added.
        public struct State: RawRepresentable, Hashable, Codable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
            /// The word for the state.
            public let rawValue: String

            /// Creates a state from a word.
            public init(rawValue: String) { self.rawValue = rawValue }
            public init(stringLiteral value: String) { rawValue = value }

            /// It has no host, and is woken by its next due time, a write to its database or the program.
            public static let parked = State(rawValue: "parked")
            /// It has a host.
            public static let awake = State(rawValue: "awake")
            /// It could not be woken, which is tried again.
            public static let failed = State(rawValue: "failed")

            public var description: String { rawValue }
        }

        /// The name.
        public let name: String
        /// Whether it has a host.
        public let state: State
        /// Why it was not parked at the last check: "a run is active"; `nil` if nothing prevents it.
        public let reason: String?
        /// The next due time at the last check; `nil` if only a write or the program gives it work.
        public let nextDue: Date?
        /// The error of the last attempt to wake it.
        public let error: (any Error)?
        /// How often it got a host.
        public let wakeCount: Int
    }
}
