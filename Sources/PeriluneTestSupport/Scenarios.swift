public import PeriluneScenarios
public import Testing

/// The scenarios of Lua files as tests of Swift Testing.
///
/// ```swift
/// @Test(arguments: try Scenarios.all(under: "scripts/examples/billing/scenarios"))
/// func billing(_ scenario: ScenarioTest) async throws {
///     try await scenario.run()
/// }
/// ```
///
/// Each scenario is a case of the test. Each failure is reported as an issue at its line in the Lua file.
public enum Scenarios {
    /// Returns the scenarios in a folder or file. A file that cannot be loaded becomes a failing case.
    ///
    /// - Parameters:
    ///   - path: A path relative to the current folder, which is the package's folder under `swift test`.
    ///   - change: Changes options, such as the folder of migrations and the timeout.
    /// - Throws: `ScenarioUsageError` if the path does not exist.
    public static func all(
        under path: String, _ change: (inout ScenarioOptions) -> Void = { _ in }
    ) throws -> [ScenarioTest] {
        var options = ScenarioOptions()
        options.paths = [ScenarioPath(path)]
        // A fixed seed makes failures repeatable.
        options.seed = RunSeed(0)
        change(&options)
        return try ScenarioSuite(options).cases.map { ScenarioTest(entry: $0) }
    }
}

/// A scenario as the argument of a test.
public struct ScenarioTest: Sendable, CustomTestStringConvertible {
    let entry: ScenarioSuite.Case

    /// The title in test reports.
    public var testDescription: String { entry.scenario.title }
    /// The scenario, with its name and position.
    public var scenario: Scenario { entry.scenario }

    /// Runs the scenario and records an issue for each failure.
    ///
    /// - Throws: `ScenarioUsageError` if the scenario cannot be run.
    public func run() async throws {
        let result = await entry.run()
        guard !result.outcome.isSuccess else { return }
        for failure in result.failures { record(failure, of: result) }
        if result.failures.isEmpty { record(ScenarioFailure("the scenario failed"), of: result) }
    }

    private func record(_ failure: ScenarioFailure, of result: ScenarioResult) {
        let file = failure.file ?? scenario.file
        let location = SourceLocation(
            fileID: "scenarios/\(scenario.file)", filePath: file, line: failure.line ?? scenario.line, column: 1)
        Issue.record("\(result.text(of: failure))", sourceLocation: location)
    }
}
