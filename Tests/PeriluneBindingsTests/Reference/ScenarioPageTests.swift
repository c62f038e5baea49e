import Foundation
import PeriluneLuaFileTools
import PeriluneScenarios
import Testing

/// The examples on the documentation pages about scenarios, which run in the project of the reference.
@Suite struct ScenarioPageTests {
    /// A Lua block on a page.
    struct Example: Sendable, CustomTestStringConvertible {
        let page: String
        let language: String
        let text: String
        var testDescription: String { "\(page): \(text.prefix(60))" }
    }

    static let examples: [Example] = {
        let folder = "Sources/PeriluneScenarios/PeriluneScenarios.docc"
        let pages = (try? FileManager.default.contentsOfDirectory(atPath: Reference.root.appending(path: folder).path)) ?? []
        // TutorialTests run the tutorial from its page.
        return pages.filter { $0.hasSuffix(".md") && !$0.hasPrefix("Tutorial") }.sorted().flatMap { page in
            let text = Reference.text(of: "\(folder)/\(page)") ?? ""
            return blocks(of: "lua", in: text).map { Example(page: page, language: "lua", text: $0) }
        }
    }()

    @Test(.serialized, arguments: examples)
    func `scenarios in the documentation pass`(_ example: Example) async throws {
        let outcomes = try await ExampleProject(Reference.current.get().project).outcomes(of: example.text)
        #expect(!outcomes.isEmpty && outcomes.allSatisfy { $0 == .passed }, "\(example.testDescription): \(outcomes)")
    }
}

/// A temporary project folder in which a scenario file runs.
struct ExampleProject {
    private let files: [String: String]

    init(_ files: [String: String]) {
        self.files = files
    }

    /// The results of the scenarios in a file.
    func outcomes(of scenarios: String) async throws -> [ScenarioOutcome] {
        let folder = temporaryPath("project")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (name, text) in files.merging(["scenarios/a_scenario.lua": scenarios], uniquingKeysWith: { $1 }) {
            let file = URL(filePath: "\(folder)/\(name)")
            try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        var options = ScenarioOptions()
        options.paths = [ScenarioPath(folder + "/scenarios")]
        options.snapshots = .replace
        return try await ScenarioRun(options) { _ in }.perform().results.map(\.outcome)
    }
}
