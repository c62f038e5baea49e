package import Logging
package import PeriluneDependencies
package import PeriluneRecords

/// The dependencies of scripts other than the database. They are resolved once for each state.
package struct ScriptEnvironment: Sendable {
    package var context: DependencyContainer.Context
    package var date: DateSource
    package var uuid: UUIDSource
    package var random: RandomSource
    package var logger: Logger

    /// The environment with the system's clock and random numbers, for states without a dependency container.
    package static let machine = ScriptEnvironment(
        context: .live, date: .system, uuid: .random, random: .system, logger: Logger(label: "perilune"))

    /// Resolves the environment from a dependency container.
    package static func resolve(in container: DependencyContainer) async throws -> ScriptEnvironment {
        ScriptEnvironment(
            context: try container.context,
            date: try await container.value(for: DateKey.self),
            uuid: try await container.value(for: UUIDKey.self),
            random: try await container.value(for: RandomKey.self),
            logger: try await container.value(for: LoggerKey.self))
    }

    /// Whether the clock or the random numbers are not the system's.
    package var isControlled: Bool { !date.isSystem || !random.isSystem }

    package func now() throws -> DateTime {
        if date.isSystem { return try SystemClock.now() }
        let microseconds = (date().timeIntervalSince1970 * 1_000_000).rounded()
        guard let whole = Int64(exactly: microseconds) else {
            throw BindingError("date", "the clock of the host is out of range: \(microseconds) microseconds after 1970")
        }
        return try DateTime(microsecondsSince1970: whole)
    }
}
