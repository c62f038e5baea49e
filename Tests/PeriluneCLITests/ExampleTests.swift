import Foundation
import PeriluneTestTools
import Testing

/// Runs the scripts in scripts/examples and compares their output with scripts/examples/expected.
@Suite(.patience, .startsPrograms) struct ExampleTests {
    @Test(arguments: [
        ("wines.lua", "wines.txt"), ("music_shop/report.lua", "music_shop_report.txt"), ("library.lua", "library.txt"),
        ("reminders.lua", "reminders.txt"), ("configuration.lua", "configuration.txt"),
        ("music_shop/questions.lua", "music_shop_questions.txt"),
    ])
    func `examples print the expected output`(script: String, expected: String) throws {
        let examples = TestFolder.checkout + "/scripts/examples"
        let result = try TestFolder().perilune("run", "\(examples)/\(script)")
        #expect((result.status, result.errors) == (0, ""))
        let text = try String(contentsOfFile: "\(examples)/expected/\(expected)", encoding: .utf8)
        #expect(result.output == text)
    }

    /// In the test context, the clock advances only while a script waits, so these examples take no time and print the same on
    /// every machine.
    @Test(arguments: ["changed_tables", "inventory_automation"])
    func `examples that wait print the expected output`(name: String) throws {
        let examples = TestFolder.checkout + "/scripts/examples"
        let result = try TestFolder().perilune("run", "--context", "test", "\(examples)/\(name).lua")
        #expect((result.status, result.errors) == (0, ""))
        #expect(try result.output == String(contentsOfFile: "\(examples)/expected/\(name).txt", encoding: .utf8))
    }
}
