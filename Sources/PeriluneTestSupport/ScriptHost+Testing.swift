public import Perilune

/// Script hosts for tests.
extension ScriptHost {
    /// Creates a host with a private in-memory database, a clock that moves only when it is set or a script sleeps, and
    /// repeatable random numbers.
    ///
    /// - Parameters:
    ///   - migrations: The migrations of the database; `nil` leaves it empty.
    ///   - configuration: The configuration of the host, whose database is ignored.
    /// - Throws: Errors of the migrations.
    public static func forTest(
        migrations: Migrations? = nil, _ configuration: Configuration = Configuration()
    ) async throws -> ScriptHost {
        try await DependencyContainer.withTestScope {
            try await DependencyContainer.with {
                $0.defaultDatabase = .inMemory(migrations: migrations)
            } operation: {
                var configuration = configuration
                configuration.database = nil
                return try await ScriptHost(configuration)
            }
        }
    }
}
