internal import Foundation
internal import PeriluneLua

/// Scenarios that another test runner, such as Swift Testing, runs one at a time.
public final class ScenarioSuite: Sendable {
    /// A scenario, or a file that does not load.
    public struct Case: Sendable {
        fileprivate let suite: ScenarioSuite
        fileprivate let entry: SelectedScenarios.Entry?
        fileprivate let broken: ScenarioResult?

        /// The scenario, with its name and location.
        public var scenario: Scenario { entry?.scenario ?? broken!.scenario }

        /// Runs the scenario.
        public func run() async -> ScenarioResult {
            if let broken { return broken }
            return await suite.run(entry!)
        }
    }

    private let options: ScenarioOptions
    private let chunks = ChunkCache()
    private let snapshots = SnapshotUses()
    private let databases: ScenarioDatabases
    private let selected: SelectedScenarios

    /// Finds the scenarios, and blocks the calling thread until this is done.
    ///
    /// - Throws: ``ScenarioUsageError`` if the options or the files of scenarios are wrong.
    public init(_ options: ScenarioOptions) throws {
        var options = options
        // The test runner determines the order.
        options.order = .file
        self.options = options
        databases = ScenarioDatabases(store: TemplateStore(), chunks: chunks, options: options)
        let collector = ScenarioCollector(chunks: chunks, options: options)
        // Lua's parser is recursive and needs a large stack.
        selected = try LuaThread().run { try SelectedScenarios(options, collector: collector) }
    }

    /// The scenarios in the order of files and lines.
    public var cases: [Case] {
        selected.broken.map { Case(suite: self, entry: nil, broken: $0) }
            + selected.entries.map { Case(suite: self, entry: $0, broken: nil) }
    }

    private func run(_ entry: SelectedScenarios.Entry) async -> ScenarioResult {
        let job = ScenarioQueue.Job(number: 0, entry: entry, round: 1)
        let token = RunningScenarios.Token(job, seed: options.seed)
        let worker = ScenarioWorker()
        return await withTaskCancellationHandler {
            await worker.perform(
                job, token, with: ScenarioTools(databases: databases, chunks: chunks, options: options, snapshots: snapshots))
        } onCancel: {
            token.cancel()
        }
    }
}

extension ScenarioResult {
    /// Returns the text that reports show for a failure.
    public func text(of failure: ScenarioFailure) -> String {
        let text = FailureText(style: ScenarioReportStyle())
        var lines = text.lines(of: failure)
        if let first = lines.first { lines[0] = String(first.drop { $0 == " " }) }
        lines += text.block("output", output)
        return lines.joined(separator: "\n")
    }
}
