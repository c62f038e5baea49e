public import Perilune

/// Hosts for tests.
extension ScriptHost {
    /// Makes a host over a private database in memory, with a frozen clock and repeatable random numbers.
    ///
    /// - Parameters:
    ///   - migrations: The migrations of the database. Without them it is empty.
    ///   - configuration: The configuration of the host. Its database is ignored.
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
