public import Perilune

/// Hosts for tests.
extension ScriptHost {
    /// Makes a host over a private database in memory, with a frozen clock and repeatable random numbers.
    ///
    /// - Parameters:
    ///   - migrations: What the database is migrated by; it is empty without.
    ///   - configuration: Of the host; its database is not used.
    /// - Throws: What the migrations throw.
    public static func inMemory(
        migrations: Migrations? = nil, _ configuration: Configuration = Configuration()
    ) async throws -> ScriptHost {
        try await Dependencies.withTestScope {
            try await Dependencies.with { $0.defaultDatabase = .inMemory(migrations: migrations) } operation: {
                var configuration = configuration
                configuration.database = .prepared
                return try await ScriptHost(configuration)
            }
        }
    }
}
