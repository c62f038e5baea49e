/// The types of the tables that scenarios use, for editors.
extension ScenarioRun {
    /// Finds the scenarios and returns their types for editors.
    ///
    /// - Throws: ``ScenarioUsageError`` if nothing is a scenario.
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
