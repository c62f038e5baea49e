import Foundation
import Synchronization
import Testing

@testable import PeriluneScenarios

/// A temporary folder with scenarios and the files that they use. It is removed with the value.
final class ScenarioProject {
    let path: String

    /// - Parameter files: The contents of files by their paths in the folder.
    init(_ files: [String: String]) throws {
        path = URL.temporaryDirectory.appending(path: "perilune-scenarios-\(UUID().uuidString)").standardizedFileURL.path
        for (name, text) in files { try write(text, to: name) }
    }

    /// Creates a project with one scenario file.
    convenience init(_ scenarios: String) throws {
        try self.init(["scenarios/a_scenario.lua": scenarios])
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func write(_ text: String, to name: String) throws {
        try write(Data(text.utf8), to: name)
    }

    func write(_ data: Data, to name: String) throws {
        let file = URL(filePath: "\(path)/\(name)")
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try data.write(to: file)
    }

    func read(_ name: String) -> String? {
        FileManager.default.contents(atPath: "\(path)/\(name)").map { String(decoding: $0, as: UTF8.self) }
    }

    /// The outcome of a run.
    struct Outcome {
        let summary: ScenarioSummary
        let texts: [ScenarioReportFormat: String]

        subscript(format: ScenarioReportFormat) -> String { texts[format] ?? "" }

        /// The results by name.
        func result(_ name: String) throws -> ScenarioResult {
            try #require(summary.results.first { $0.scenario.name == name }, "no result of \(name)")
        }

        func outcome(_ name: String) throws -> ScenarioOutcome { try result(name).outcome }
    }

    /// Runs the scenarios in file order with the seed 7f3a.
    func run(
        _ formats: ScenarioReportFormat..., isVerbose: Bool = false, _ change: (inout ScenarioOptions) throws -> Void = { _ in },
        started: @escaping @Sendable (ScenarioRun) -> Void = { _ in }
    ) async throws -> Outcome {
        var options = ScenarioOptions()
        options.paths = [ScenarioPath(path + "/scenarios")]
        options.order = .file
        options.seed = RunSeed(0x7f3a)
        // A scenario that waits for a Swift task queues behind all tests that are ready to run; at first, that is every test.
        options.timeout = .seconds(900)
        try change(&options)
        var style = ScenarioReportStyle()
        style.isVerbose = isVerbose
        // The time limit is long enough for a busy machine.
        style.slow = .seconds(3600)
        let texts = Mutex<[ScenarioReportFormat: String]>([:])
        nonisolated(unsafe) let reports = formats.map { format in
            format.makeReport(style) { text in texts.withLock { $0[format, default: ""] += text } }
        }
        let run = ScenarioRun(options) { event in
            for report in reports { report.receive(event) }
        }
        started(run)
        let summary = try await run.perform()
        return Outcome(summary: summary, texts: texts.withLock { $0.mapValues(shown) })
    }

    /// Replaces the parts of a text that differ from run to run: the folder and times.
    private func shown(_ text: String) -> String {
        text.replacing(path + "/", with: "")
            .replacing(/[0-9.]+ m?s\b/, with: "0 ms")
            .replacing(/time="[0-9.]+"/, with: "time=\"0\"")
            .replacing(/"milliseconds":[0-9.e-]+/, with: "\"milliseconds\":0")
            .replacing(/duration_ms: [0-9]+/, with: "duration_ms: 0")
    }
}
