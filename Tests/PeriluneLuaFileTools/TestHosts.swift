package import Perilune

/// A host for tests: trusted, with files, over a database in memory.
package func testHost(_ configure: (inout ScriptHost.Configuration) -> Void = { _ in }) throws -> ScriptHost {
    var configuration = ScriptHost.Configuration(database: .inMemory())
    configuration.libraries = .trusted
    configuration.allowsFiles = true
    configure(&configuration)
    return try ScriptHost(standalone: configuration)
}

/// The same with the clock of tests, which stands but where a script waits: so waiting takes no time, and its end does not depend
/// on how busy the machine is.
package func waitingHost() async throws -> ScriptHost {
    var configuration = ScriptHost.Configuration(database: .inMemory())
    configuration.libraries = .trusted
    configuration.allowsFiles = true
    return try await ScriptHost(configuration)
}
