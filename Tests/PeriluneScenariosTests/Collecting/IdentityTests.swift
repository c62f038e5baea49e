import Testing

@testable import PeriluneScenarios

/// The identity of scenarios, from which their seeds are derived.
@Suite struct IdentityTests {
    private static let text = "for i = 1, 4 do scenario('s' .. i, function(t) print(math.random(1000000)) check(true) end) end"
    private static let files = [
        "migrations/1_book.sql": "CREATE TABLE book (id INTEGER PRIMARY KEY)",
        "scenarios/support.lua": "title = 'shared'",
        "scenarios/sub/b_scenario.lua": """
        scenario("inner", function(t)
          check(title == "shared")
          check(t.db:fetch_value("SELECT COUNT(*) FROM book") == 0)
          print(math.random(1000000))
        end)
        """,
        "scenarios/a_scenario.lua": text,
    ]

    @Test func `identifiers, seeds and order do not depend on the form of the path`() async throws {
        let project = try ScenarioProject(Self.files)
        let typed = ["scenarios", "scenarios/.", "scenarios/../scenarios", "scenarios/sub/..", ""]
        var seen: [[String]] = []
        for path in typed {
            let run = try await project.run {
                $0.paths = [ScenarioPath("\(project.path)/\(path)")]
                $0.order = .random
            }
            #expect(run.summary.count(.passed) == 5, "\(path): \(run.summary.failures.flatMap(\.failures))")
            seen.append(run.summary.results.map { "\($0.scenario.id) \($0.output)" })
        }
        #expect(seen[0].contains { $0.hasPrefix("scenarios/sub/b_scenario.lua > inner ") })
        for (path, results) in zip(typed, seen) { #expect(results == seen[0], "\(path)") }
    }

    @Test func `running one file or subfolder uses the seeds, support files and migrations of the full run`() async throws {
        let project = try ScenarioProject(Self.files)
        let whole = try await project.run().result("inner")
        for path in ["scenarios/sub", "scenarios/sub/b_scenario.lua", "scenarios/sub/b_scenario.lua:1"] {
            let part = try await project.run { $0.paths = [ScenarioPath("\(project.path)/\(path)")] }.result("inner")
            #expect(part.outcome == .passed, "\(part.failures)")
            #expect(part.scenario.id == whole.scenario.id && part.output == whole.output)
        }
    }

    @Test func `a scenario file that is given by two paths runs once`() async throws {
        let project = try ScenarioProject(Self.files)
        let run = try await project.run {
            $0.paths = ["scenarios", "scenarios/../scenarios/a_scenario.lua", "scenarios/a_scenario.lua:1"].map {
                ScenarioPath("\(project.path)/\($0)")
            }
        }
        #expect(run.summary.results.count == 5 && run.summary.count(.passed) == 5)
    }

    @Test func `two scenario folders in one run may contain equal file and scenario names`() async throws {
        let project = try ScenarioProject(["one/scenarios/a_scenario.lua": Self.text, "two/scenarios/a_scenario.lua": Self.text])
        let run = try await project.run { $0.paths = ["one", "two"].map { ScenarioPath("\(project.path)/\($0)/scenarios") } }
        #expect(run.summary.count(.passed) == 8)
        #expect(Set(run.summary.results.map(\.scenario.id)).count == 8)
        #expect(Set(run.summary.results.map(\.output)).count == 4)
    }

    @Test func `without a folder called scenarios, the given folder is the root`() async throws {
        let project = try ScenarioProject([
            "migrations/1_book.sql": "CREATE TABLE book (id INTEGER PRIMARY KEY)",
            "specs/support.lua": "title = 'shared'",
            "specs/sub/b_scenario.lua": Self.files["scenarios/sub/b_scenario.lua"]!,
        ])
        let run = try await project.run { $0.paths = [ScenarioPath(project.path + "/specs")] }
        #expect(run.summary.count(.passed) == 1, "\(run.summary.failures.flatMap(\.failures))")
    }

    @Test func `the command in a failure runs exactly the failed case`() async throws {
        let project = try ScenarioProject(
            """
            scenario("price of {n}", { cases = { { name = "one", n = 1 }, { name = "two", n = 2 } } }, function(t)
              check(t.case.n == 1)
            end)
            scenario("alone", function(t) check(false) end)
            """)
        let text = try await project.run(.pretty)[.pretty]
        #expect(text.contains("rerun     perilune test scenarios/a_scenario.lua:1:2 --seed 7f3a\n"), "\(text)")
        #expect(text.contains("rerun     perilune test scenarios/a_scenario.lua:4 --seed 7f3a\n"), "\(text)")
        let again = try await project.run { $0.paths = [ScenarioPath(project.path + "/scenarios/a_scenario.lua:1:2")] }
        #expect(again.summary.results.map(\.scenario.caseName) == ["two"])
        let loop = try ScenarioProject("for i = 1, 3 do scenario('s' .. i, function(t) check(i ~= 2) end) end")
        #expect(
            try await loop.run(.pretty)[.pretty].contains("rerun     perilune test scenarios/a_scenario.lua:1:2 --seed 7f3a\n"))
    }

    @Test func `a scenario file may catch the error of a definition and define another scenario`() async throws {
        let project = try ScenarioProject(
            """
            scenario("before", function(t) check(true) end)
            if not pcall(scenario, "refused", { no_such_option = 1 }, function(t) end) then
              scenario("in its place", function(t) check(true) end)
            end
            scenario("after", function(t) check(true) end)
            """)
        let run = try await project.run()
        #expect(run.summary.results.map(\.scenario.name) == ["before", "in its place", "after"])
        #expect(run.summary.count(.passed) == 3, "\(run.summary.failures.flatMap(\.failures))")
    }

    @Test func `a path may end with a line and the number of a scenario on that line`() {
        let path = ScenarioPath("a/b:12:3")
        #expect(path.path == "a/b" && path.line == 12 && path.position == 3)
        #expect(ScenarioPath("a:12").position == nil && ScenarioPath("12:3").path == "12")
    }
}
