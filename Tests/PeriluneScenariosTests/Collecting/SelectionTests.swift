import Testing

@testable import PeriluneScenarios

@Suite struct SelectionTests {
    private static let text = """
        group("billing", { tags = { "money" } }, function()
          scenario("closes the month", function(t) end)
          scenario("price of {n}", { cases = { { name = "one", n = 1 }, { name = "two", n = 2 } } }, function(t)
            check(t.case.n)
          end)
        end)
        scenario("Mail is sent", { tags = { "mail", "slow" } }, function(t) end)
        """

    private func names(_ change: (inout ScenarioOptions) throws -> Void) async throws -> [String] {
        try await ScenarioProject(Self.text).run { try change(&$0) }.summary.results.map(\.scenario.name).sorted()
    }

    @Test func `scenarios are selected by text, regardless of case`() async throws {
        #expect(
            try await names { $0.selection.filters = [.text("MONTH"), .text("mail")] } == ["Mail is sent", "closes the month"])
    }

    @Test func `scenarios are selected by a regular expression`() async throws {
        #expect(try await names { $0.selection.filters = [try .init("/price.*two$/")] }.count == 1)
        #expect(try await names { $0.selection.filters = [try .init("/^closes the month$/")] } == ["closes the month"])
        #expect(try await names { $0.selection.filters = [try .init("/^billing > closes/")] } == ["closes the month"])
        #expect(try await names { $0.selection.filters = [try .init("/^month/")] } == [])
    }

    @Test func `skipped names are excluded from the selection`() async throws {
        #expect(try await names { $0.selection.skips = [.text("billing")] } == ["Mail is sent"])
    }

    @Test func `scenarios are selected by their own tags and the tags of their groups`() async throws {
        #expect(try await names { $0.selection.tags = ["money"] }.count == 3)
        #expect(try await names { $0.selection.tags = ["slow", "mail"] } == ["Mail is sent"])
    }

    @Test func `scenarios with a skipped tag are excluded`() async throws {
        #expect(try await names { $0.selection.skippedTags = ["money", "other"] } == ["Mail is sent"])
        #expect(
            try await names {
                $0.selection.tags = ["mail"]
                $0.selection.skippedTags = ["slow"]
            } == [])
    }

    @Test func `a line number selects a scenario with all its cases`() async throws {
        let path = { (options: ScenarioOptions) in options.paths[0].path }
        #expect(try await names { $0.paths = [ScenarioPath(path($0) + "/a_scenario.lua:4")] }.count == 2)
        #expect(try await names { $0.paths = [ScenarioPath(path($0) + "/a_scenario.lua:2")] } == ["closes the month"])
        #expect(try await names { $0.paths = [ScenarioPath(path($0) + "/a_scenario.lua:7")] } == ["Mail is sent"])
    }

    @Test func `a path may end with a line number`() {
        #expect(
            ScenarioPath("a:12")
                == {
                    var path = ScenarioPath("a"); path.line = 12; return path
                }())
        #expect(ScenarioPath("./scenarios/").path == "scenarios")
        #expect(ScenarioPath("a:b").path == "a:b" && ScenarioPath("a:b").line == nil)
    }

    @Test func `an invalid regular expression for scenario names is refused`() {
        #expect(throws: (any Error).self) { try ScenarioSelection.Pattern("/(/") }
    }
}
