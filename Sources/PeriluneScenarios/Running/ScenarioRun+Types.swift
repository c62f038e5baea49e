/// Type definitions for editors that describe the tables of scenarios.
extension ScenarioRun {
    /// Finds the scenarios, and returns types for editors.
    ///
    /// - Throws: ``ScenarioUsageError`` if no scenarios are found.
    package func types() async throws -> ScenarioTypes {
        let selected = try await selectScenarios()
        let (options, chunks, store) = (options, chunks, store)
        return try await LargeStack.run {
            try ScenarioTypes(
                selected, databases: ScenarioDatabases(store: store, chunks: chunks, options: options), chunks: chunks,
                extensions: options.loadedExtensions)
        }
    }
}
