public import PeriluneScenarios
public import Testing

/// Scenarios in Lua as tests of Swift Testing.
///
/// ```swift
/// @Test(arguments: try Scenarios.all(under: "scripts/examples/billing/scenarios"))
/// func billing(_ scenario: ScenarioTest) async throws {
///     try await scenario.run()
/// }
/// ```
///
/// Each scenario is a case of the test; what fails is an issue at its line of Lua.
public enum Scenarios {
    /// The scenarios in a folder or file, and the files that do not load.
    ///
    /// - Parameters:
    ///   - path: As seen from the current folder, which is that of the package under `swift test`.
    ///   - change: Sets options: the folder of migrations, the timeout, ...
    /// - Throws: `ScenarioUsageError` if there is nothing at the path.
    public static func all(
        under path: String, _ change: (inout ScenarioOptions) -> Void = { _ in }
    ) throws -> [ScenarioTest] {
        var options = ScenarioOptions()
        options.paths = [ScenarioPath(path)]
        // A run that is to be repeated has to say so.
        options.seed = RunSeed(0)
        change(&options)
        return try ScenarioSuite(options).cases.map { ScenarioTest(entry: $0) }
    }
}

/// A scenario, to be run by a test.
public struct ScenarioTest: Sendable, CustomTestStringConvertible {
    let entry: ScenarioSuite.Case

    /// What test reports call it.
    public var testDescription: String { entry.scenario.title }
    /// What it is called, and where it is.
    public var scenario: Scenario { entry.scenario }

    /// Runs the scenario, and records an issue for each failure.
    ///
    /// - Throws: `ScenarioUsageError` if the scenario cannot be run at all.
    public func run() async throws {
        let result = await entry.run()
        guard !result.outcome.isSuccess else { return }
        for failure in result.failures { record(failure, of: result) }
        if result.failures.isEmpty { record(ScenarioFailure("the scenario failed"), of: result) }
    }

    private func record(_ failure: ScenarioFailure, of result: ScenarioResult) {
        let file = failure.file ?? scenario.file
        let location = SourceLocation(fileID: "scenarios/\(scenario.file)", filePath: file, line: failure.line ?? scenario.line, column: 1)
        Issue.record("\(result.text(of: failure))", sourceLocation: location)
    }
}
