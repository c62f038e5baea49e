internal import PeriluneLua

/// Parking: an idle host can be closed until an automation is due or another program writes to the database.
extension ScriptHost {
    /// The result of a check whether a host can be parked.
    struct Rest: Decodable, Sendable {
        /// The reason why the host cannot be parked; `nil` if it can.
        let reason: String?
        /// The next due time in seconds since 1970.
        let next_due: Double?
    }

    /// Checks whether the host can be parked.
    ///
    /// - Parameters:
    ///   - least: The minimum time until the next due time for which parking is worthwhile.
    ///   - ending: Whether to end all triggers if the host can be parked. The caller must then close the host.
    nonisolated func rest(forAtLeast least: Duration, ending: Bool) async throws -> Rest {
        try await exclusively { host in
            try await host.callAutomations("rest", [.number(least / .seconds(1)), .boolean(ending)])
        }
    }

    /// Prepares the next ``loadAutomations(file:isLive:poll:)`` to continue automations that were parked: due times that have passed since
    /// then run late instead of being missed.
    nonisolated func resumeAutomations() async throws {
        try await exclusively { host in let _: Int? = try await host.callAutomations("resume", []) }
    }

    /// Transfers the claim on the automations from a closed host to this host.
    func adopt(_ claim: AutomationClaim) { automationClaim = claim }
}
