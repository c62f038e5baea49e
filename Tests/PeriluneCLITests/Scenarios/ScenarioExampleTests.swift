import Foundation
import PeriluneTestTools
import Testing

/// The scenarios of this project, and the types for editors.
@Suite(.patience, .startsPrograms) struct ScenarioExampleTests {
    @Test(arguments: ["scripts/scenarios", "scripts/examples/billing/scenarios"])
    func `the scenarios of this project pass`(folder: String) throws {
        let result = try TestFolder().shell("cd '\(TestFolder.checkout)' && CI=1 \"$PERILUNE\" test --timeout 60s \(folder)")
        #expect(result.status == 0, "\(result.output)\(result.errors)")
        #expect(result.output.contains(" 0 failed"))
    }

    @Test func `types for editors are generated from the schema with which scenarios start`() throws {
        let folder = try TestFolder([
            "migrations/0001.sql":
                "CREATE TABLE invoices (id INTEGER PRIMARY KEY, status TEXT NOT NULL CHECK (status IN ('draft', 'sent')))",
            "scenarios/support.lua": "fixture('clerk', function() return 1 end)",
            "scenarios/a_scenario.lua": "scenario('a', function(t) error('is not run') end)",
        ])
        let result = try folder.perilune("test", "--types", "types")
        #expect((result.status, result.output) == (0, ""))
        #expect(result.errors == "written: types/perilune.d.lua\nwritten: types/scenarios.d.lua\nwritten: types/schema.d.lua\n")
        let schema = try String(contentsOfFile: folder.path + "/types/schema.d.lua", encoding: .utf8)
        for line in [
            "---@class (exact) perilune.record.invoices: perilune.record_methods", "---@field status \"draft\"|\"sent\"",
            "---@field invoices perilune.class.invoices", "---@field clerk any",
        ] {
            #expect(schema.contains(line + "\n"))
        }
        let words = try String(contentsOfFile: folder.path + "/types/scenarios.d.lua", encoding: .utf8)
        #expect(words.hasPrefix("---@meta _\n"))
        #expect(words.contains("---@class (exact) perilune.t\n"))
        #expect(try folder.perilune("test", "--types", "types").errors == "")
    }

    @Test func `generating types without a scenario is an error`() throws {
        let folder = try TestFolder(["scenarios/support.lua": ""])
        let result = try folder.perilune("test", "--types", "types")
        #expect(result.status == 64)
        #expect(result.errors.contains("--types requires at least one scenario, whose database the types describe"))
    }
}

/// The text of the README about scenarios.
@Suite(.patience, .startsPrograms) struct ScenarioReadmeTests {
    private let readme: String

    init() throws {
        readme = try String(contentsOfFile: TestFolder.checkout + "/README.md", encoding: .utf8)
    }

    /// A copy of the example project that contains only the scenario from the README.
    private func project(_ change: (String) -> String = { $0 }) throws -> TestFolder {
        let scenario = try #require(block(of: "lua scenario").first)
        let folder = try TestFolder()
        let example = TestFolder.checkout + "/scripts/examples/billing"
        for name in ["migrations", "scripts", "scenarios"] {
            try FileManager.default.copyItem(atPath: "\(example)/\(name)", toPath: "\(folder.path)/\(name)")
        }
        for name in ["pricing", "split_name"] {
            try FileManager.default.removeItem(atPath: "\(folder.path)/scenarios/\(name)_scenario.lua")
        }
        try folder.write(scenario, to: "scenarios/billing_scenario.lua")
        let script = try String(contentsOfFile: folder.path + "/scripts/close_month.lua", encoding: .utf8)
        try folder.write(change(script), to: "scripts/close_month.lua")
        return folder
    }

    private func block(of language: String) -> [String] {
        readme.components(separatedBy: "```\(language)\n").dropFirst().compactMap { $0.components(separatedBy: "\n```").first }
    }

    @Test func `the scenario in the README passes`() throws {
        let result = try project().perilune("test")
        // On a busy machine, the output continues with the number of slow scenarios.
        #expect(result.status == 0 && result.output.hasPrefix("1 passed, 0 failed, 0 skipped\n"), "\(result.output)")
    }

    @Test func `the failure in the README matches the actual report`() throws {
        let project = try project { $0.replacing("Invoice:filter{ status = \"draft\" }:", with: "Invoice:") }
        let result = try project.perilune("test")
        #expect(result.status == 1)
        let text = try #require(block(of: "").first { $0.hasPrefix("expect(result.changes)") })
        let lines = text.split(separator: "\n").map { "  " + $0 }
        #expect(result.output.contains(lines.joined(separator: "\n") + "\n"), "\(result.output)")
    }
}
