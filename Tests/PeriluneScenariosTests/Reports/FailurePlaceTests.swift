import Testing

@testable import PeriluneScenarios

/// The locations in failures.
@Suite struct FailurePlaceTests {
    private static let helpers = """
        local helpers = {}
        local function total(list)
          local sum = 0
          for _, n in ipairs(list) do sum = sum + n end
          return sum
        end
        function helpers.check_total(list, expected)
          check(total(list) == expected and expected > 0)
        end
        function helpers.check_all(lists)
          for _, list in ipairs(lists) do helpers.check_total(list, 3) end
        end
        return helpers
        """

    @Test func `a failure in a helper shows each frame, starting in the scenario, and both sides of the check`() async throws {
        let project = try ScenarioProject([
            "scenarios/helpers.lua": Self.helpers,
            "scenarios/a_scenario.lua": """
            local helpers = require("helpers")
            scenario("totals", function(t)
              t.step("adding", function()
                helpers.check_all{ { 1, 2 }, { 1, 3 } }
              end)
            end)
            """,
        ])
        let run = try await project.run(.pretty, .jsonl)
        #expect(
            run[.pretty].contains(
                """
                  step      adding      scenarios/a_scenario.lua:4
                            scenarios/helpers.lua:11
                            scenarios/helpers.lua:8
                  check(total(list) == expected and expected > 0)
                    total(list) == expected is false: total(list) is 4, expected is 3

                """), "\(run[.pretty])")
        let failure = try #require(try run.result("totals").failures.first)
        #expect(failure.file?.hasSuffix("scenarios/helpers.lua") == true && failure.line == 8)
        #expect(
            run[.jsonl].contains(
                #""frames":["scenarios/a_scenario.lua:4","scenarios/helpers.lua:11","scenarios/helpers.lua:8"]"#),
            "\(run[.jsonl])")
    }

    @Test func `an error in a helper quotes its line`() async throws {
        let project = try ScenarioProject([
            "scenarios/helpers.lua": "return function(x)\n  return x.missing.field\nend\n",
            "scenarios/a_scenario.lua": "local h = require('helpers')\nscenario('s', function(t)\n  h({})\nend)",
        ])
        let text = try await project.run(.pretty)[.pretty]
        #expect(
            text.contains(
                """
                  at        scenarios/a_scenario.lua:3
                            scenarios/helpers.lua:2
                  return x.missing.field
                  attempt to index a nil value (field 'missing')
                """), "\(text)")
    }

    @Test func `a module keeps its own function named check, and modules are the same in each scenario`() async throws {
        let project = try ScenarioProject([
            "scenarios/own.lua": "local check = function(x) return x end\nreturn function(a, b) return check(a == b) end",
            "scenarios/helpers.lua": Self.helpers,
            "scenarios/a_scenario.lua": """
            for i = 1, 3 do
              scenario("s" .. i, function(t)
                check(require("own")(1, 2) == false)
                require("helpers").check_total({ 1, 2 }, 3)
              end)
            end
            """,
        ])
        let run = try await project.run { $0.workers = 2 }
        #expect(run.summary.count(.passed) == 3, "\(run.summary.failures.flatMap(\.failures))")
    }

    @Test func `a scenario that was ended shows its current line and stack frames`() async throws {
        let project = try ScenarioProject([
            "scenarios/helpers.lua": "return function(db)\n  while true do\n    local x = 1\n  end\nend\n",
            "scenarios/a_scenario.lua": """
            local spin = require("helpers")
            scenario("in a helper", { timeout = "10s" }, function(t)
              t.step("waiting", function()
                spin(t.db)
              end)
            end)
            scenario("in itself", { timeout = "10s" }, function(t)
              local n = 0
              while true do n = n + 1 end
            end)
            scenario("in SQL", { timeout = "10s" }, function(t)
              check(1 == 1)
              t.db:fetch_value("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT COUNT(*) FROM n")
            end)
            """,
        ])
        let run = try await project.run(.pretty) { $0.workers = 3 }
        let helper = try #require(try run.result("in a helper").failures.first)
        #expect(helper.step == "waiting")
        #expect(helper.file?.hasSuffix("helpers.lua") == true && (2...4).contains(helper.line ?? 0), "\(helper)")
        #expect(helper.frames.count == 2 && helper.frames[0].hasSuffix("scenarios/a_scenario.lua:4"), "\(helper.frames)")
        let itself = try #require(try run.result("in itself").failures.first)
        #expect(itself.line == 9 && itself.source == "while true do n = n + 1 end", "\(itself)")
        #expect(try run.result("in SQL").failures.first?.line == 13)
        #expect(
            run[.pretty].contains(
                """
                  at        scenarios/a_scenario.lua:9
                  while true do n = n + 1 end
                  timed out: still running after 0 ms
                """), "\(run[.pretty])")
    }

    @Test func `a failed expectation on queries is explained`() async throws {
        let project = try ScenarioProject(
            """
            local function two(t)
              return t.queries(function() t.db:fetch_value("SELECT 1") t.db:fetch_value("SELECT 2") end)
            end
            scenario("most", function(t) expect(two(t)):at_most(1) end)
            scenario("exact", function(t) expect(two(t)):exactly(5) end)
            scenario("index", function(t) expect(two(t)):uses_index("by_name") end)
            """)
        let run = try await project.run()
        #expect(try run.result("most").failures.first?.details.first == "expected at most 1 query, got 2")
        #expect(try run.result("exact").failures.first?.details.first == "expected 5 queries, got 2")
        #expect(
            try run.result("index").failures.first?.details.first
                == "expected a query that uses the index by_name, got these plans")
    }
}
