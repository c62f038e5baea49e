import Foundation
import Testing

@testable import PeriluneScenarios

@Suite struct SnapshotTests {
    private func scenario(_ name: String, _ value: String, _ snapshot: String) -> String {
        "scenario('\(name)', function(t) expect(\(value)):snapshot('\(snapshot)') end)\n"
    }

    @Test func `snapshots distinguish values of different types`() async throws {
        for (old, new) in [("'1'", "1"), ("'true'", "true"), ("'text\\n'", "'text'"), ("{ { a = '1' } }", "{ { a = 1 } }")] {
            let project = try ScenarioProject(scenario("s", old, "x"))
            #expect(try await project.run { $0.snapshots = .replace }.outcome("s") == .passed)
            #expect(try await project.run().outcome("s") == .passed)
            try project.write(scenario("s", new, "x"), to: "scenarios/a_scenario.lua")
            #expect(try await project.run().outcome("s") == .failed, "\(old) and \(new)")
        }
    }

    @Test(arguments: [ScenarioOptions.Snapshots.replace, .beside])
    func `without permission to write snapshots, no new value is accepted`(mode: ScenarioOptions.Snapshots) async throws {
        let project = try ScenarioProject(scenario("s", "'one'", "x"))
        _ = try await project.run { $0.snapshots = .replace }
        try project.write(scenario("s", "'two'", "x") + scenario("u", "'new'", "z"), to: "scenarios/a_scenario.lua")
        let run = try await project.run { ($0.snapshots, $0.isCI) = (mode, true) }
        #expect(try run.outcome("s") == .failed && run.outcome("u") == .failed)
        #expect(project.read("scenarios/__snapshots__/a/x.snap")?.contains("one") == true)
        #expect(
            project.read("scenarios/__snapshots__/a/x.snap.new") == nil && project.read("scenarios/__snapshots__/a/z.snap") == nil
        )
    }

    @Test func `two files may have snapshots with the same name`() async throws {
        let project = try ScenarioProject([
            "scenarios/a_scenario.lua": scenario("s", "'of a'", "x"), "scenarios/b_scenario.lua": scenario("s", "'of b'", "x"),
        ])
        #expect(try await project.run { $0.snapshots = .replace }.summary.count(.passed) == 2)
        #expect(try await project.run().summary.count(.passed) == 2)
        #expect(project.read("scenarios/__snapshots__/a/x.snap")?.contains("of a") == true)
        #expect(project.read("scenarios/__snapshots__/b/x.snap")?.contains("of b") == true)
    }

    @Test func `two scenarios in a file that compare different values with one snapshot are reported`() async throws {
        let project = try ScenarioProject(scenario("one", "1", "x") + scenario("two", "2", "x") + scenario("three", "1", "x"))
        let run = try await project.run { $0.snapshots = .replace }
        #expect(try run.outcome("one") == .passed && run.outcome("three") == .passed)
        #expect(
            try run.result("two").failures.map(\.message) == [
                "snapshot: the scenario `\(run.result("one").scenario.id)` compares another value with the snapshot `x`; give each its own name"
            ])
        #expect(try await project.run { $0.rounds = 2 }.summary.count(.passed) == 4)
    }

    @Test func `a pending snapshot is removed when the value is restored`() async throws {
        let project = try ScenarioProject(scenario("s", "1", "x"))
        _ = try await project.run { $0.snapshots = .replace }
        try project.write(scenario("s", "2", "x"), to: "scenarios/a_scenario.lua")
        _ = try await project.run()
        #expect(project.read("scenarios/__snapshots__/a/x.snap.new") != nil)
        try project.write(scenario("s", "1", "x"), to: "scenarios/a_scenario.lua")
        #expect(try await project.run().outcome("s") == .passed)
        #expect(project.read("scenarios/__snapshots__/a/x.snap.new") == nil)
    }

    @Test func `unused snapshots are reported, and removed on request`() async throws {
        let project = try ScenarioProject(scenario("one", "1", "x") + scenario("two", "2", "y"))
        _ = try await project.run { $0.snapshots = .replace }
        try project.write(scenario("one", "1", "x"), to: "scenarios/a_scenario.lua")
        try project.write("old", to: "scenarios/__snapshots__/loose.snap")
        try project.write("old", to: "scenarios/__snapshots__/gone/z.snap.new")
        let told = try await project.run(.pretty)
        #expect(
            told[.pretty] == """
                1 passed, 0 failed, 0 skipped
                3 obsolete snapshots (use --remove-obsolete-snapshots to delete them)
                  scenarios/__snapshots__/a/y.snap
                  scenarios/__snapshots__/gone/z.snap.new
                  scenarios/__snapshots__/loose.snap

                """)
        #expect(told.summary.exitStatus == 0)
        let inCI = try await project.run {
            $0.removesObsoleteSnapshots = true
            $0.isCI = true
        }
        #expect(inCI.summary.obsoleteSnapshots.count == 3 && project.read("scenarios/__snapshots__/a/y.snap") != nil)
        let removed = try await project.run { $0.removesObsoleteSnapshots = true }
        #expect(removed.summary.removedSnapshots.count == 3 && removed.summary.obsoleteSnapshots.isEmpty)
        #expect(
            project.read("scenarios/__snapshots__/a/y.snap") == nil && project.read("scenarios/__snapshots__/a/x.snap") != nil)
        #expect(!FileManager.default.fileExists(atPath: project.path + "/scenarios/__snapshots__/gone"))
        #expect(try await project.run().summary.obsoleteSnapshots.isEmpty)
    }

    @Test func `a run that compared only some snapshots reports none as unused`() async throws {
        let text = scenario("one", "1", "x") + scenario("two", "2", "y")
        let project = try ScenarioProject(text)
        _ = try await project.run { $0.snapshots = .replace }
        let obsolete = { (run: ScenarioProject.Outcome) in run.summary.obsoleteSnapshots }
        #expect(try await obsolete(project.run { $0.selection.filters = [.text("one")] }).isEmpty)
        #expect(try await obsolete(project.run { $0.paths = [ScenarioPath($0.paths[0].path + "/a_scenario.lua:1")] }).isEmpty)
        for change in [
            "scenario.skip('why', 'two', function(t) end)", "scenario('two', function(t) error('x') end)",
            "scenario.only('two', function(t) check(true) end)",
            "scenario('two', { fails = 'why' }, function(t) check(false) end)",
        ] {
            try project.write(scenario("one", "1", "x") + change, to: "scenarios/a_scenario.lua")
            #expect(try await obsolete(project.run()).isEmpty, "\(change)")
        }
        for error in ["oops(", "oops()", "factory('a', {}) factory('a', {})"] {
            try project.write(text + error, to: "scenarios/a_scenario.lua")
            let broken = try await project.run { $0.removesObsoleteSnapshots = true }
            #expect(broken.summary.obsoleteSnapshots.isEmpty && broken.summary.removedSnapshots.isEmpty, "\(error)")
            #expect(project.read("scenarios/__snapshots__/a/x.snap") != nil, "\(error)")
        }
        try project.write(scenario("one", "1", "x") + "scenario.todo('two')", to: "scenarios/a_scenario.lua")
        #expect(try await obsolete(project.run()).count == 1)
    }
}
