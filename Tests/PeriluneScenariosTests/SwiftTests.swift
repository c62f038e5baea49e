import PeriluneScenarios
import PeriluneTestSupport
import Testing

/// The examples of this project, as a program that embeds Perilune would run its own.
@Suite struct ExampleScenarios {
    // example
    @Test(arguments: try Scenarios.all(under: "scripts/examples/billing/scenarios"))
    func billing(_ scenario: ScenarioTest) async throws {
        try await scenario.run()
    }
    // end
}

@Suite struct SwiftTests {
    @Test func `a scenario that fails is an issue at its line of Lua`() async throws {
        let project = try ScenarioProject("""
            scenario("good", function(t) end)
            scenario("bad", function(t)
              check(1 == 2)
            end)
            """)
        let scenarios = try Scenarios.all(under: project.path + "/scenarios")
        #expect(scenarios.map(\.testDescription) == ["good", "bad"])
        try await scenarios[0].run()
        try await withKnownIssue {
            try await scenarios[1].run()
        } matching: { issue in
            issue.sourceLocation?.line == 3 && issue.comments.first?.rawValue.contains("check(1 == 2)") == true
        }
    }

    @Test func `a file that does not load is a case that fails`() async throws {
        let project = try ScenarioProject("scenario(")
        let scenarios = try Scenarios.all(under: project.path)
        #expect(scenarios.count == 1)
        await withKnownIssue { try await scenarios[0].run() }
    }
}
