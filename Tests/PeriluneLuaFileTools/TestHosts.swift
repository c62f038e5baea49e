package import Perilune

/// A host for tests: trusted, with files, over a database in memory.
package func testHost(_ configure: (inout ScriptHost.Configuration) -> Void = { _ in }) throws -> ScriptHost {
    var configuration = ScriptHost.Configuration(database: .inMemory())
    configuration.libraries = .trusted
    configuration.allowsFiles = true
    configure(&configuration)
    return try ScriptHost(standalone: configuration)
}

/// Creates the same host with the clock of tests, which advances only while a script waits. Waiting takes no time and does not
/// depend on the load of the machine.
package func waitingHost() async throws -> ScriptHost {
    var configuration = ScriptHost.Configuration(database: .inMemory())
    configuration.libraries = .trusted
    configuration.allowsFiles = true
    return try await ScriptHost(configuration)
}
