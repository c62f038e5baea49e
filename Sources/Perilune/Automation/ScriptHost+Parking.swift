internal import PeriluneLua

/// Hosts whose automations are idle can be parked: closed until something is due or another program writes.
extension ScriptHost {
    /// Whether a host can be parked, and until when.
    struct Rest: Decodable, Sendable {
        /// Why the host cannot be parked; `nil` if it can.
        let reason: String?
        /// The next due time in seconds since 1970.
        let next_due: Double?
    }

    /// Finds out whether the host can be parked.
    ///
    /// - Parameters:
    ///   - least: The time until the next due time for which parking is worth while.
    ///   - ending: Whether to end all triggers if it can be parked. The host must be closed then.
    nonisolated func rest(forAtLeast least: Duration, ending: Bool) async throws -> Rest {
        try await exclusively { host in
            try await host.callAutomations("rest", [.number(least / .seconds(1)), .boolean(ending)])
        }
    }

    /// Makes the next ``loadAutomations(file:isLive:poll:)`` continue automations that another host has parked: due times since then
    /// are late, not missed.
    nonisolated func resumeAutomations() async throws {
        try await exclusively { host in let _: Int? = try await host.callAutomations("resume", []) }
    }

    /// Takes over the claim on the automations from a host that is closed.
    func adopt(_ claim: AutomationClaim) { automationClaim = claim }
}
