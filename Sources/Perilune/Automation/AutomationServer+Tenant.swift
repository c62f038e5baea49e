public import Foundation

/// The public description of a tenant.
extension AutomationServer {
    /// A snapshot of a tenant.
    public struct Tenant: Sendable {
        /// The state of a tenant.
        @nonexhaustive
        public enum State: String, Codable, Sendable {
            /// The tenant has no host until its next due time, a write to its database file or the program wakes it.
            case parked
            /// The tenant has a host.
            case awake
            /// The last attempt to wake the tenant failed. The server tries again.
            case failed
        }

        /// The name of the tenant.
        public let name: String
        /// The state of the tenant.
        public let state: State
        /// The reason why the last check did not park the tenant, for example "a run is active"; `nil` if nothing prevents parking.
        public let reason: String?
        /// The next due time, as of the last check; `nil` if only a write to the database file or the program can wake the tenant.
        public let nextDue: Date?
        /// The error of the last attempt to wake the tenant; `nil` if it succeeded.
        public let error: (any Error)?
        /// The number of times that the tenant was woken, including its first start.
        public let wakeCount: Int
    }
}
