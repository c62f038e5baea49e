import PeriluneScenarios
import PeriluneTestSupport
import Testing

/// Runs the examples of this project like a program that embeds Perilune runs its scenarios.
@Suite struct ExampleScenarios {
    // example
    @Test(arguments: try Scenarios.all(under: "scripts/examples/billing/scenarios"))
    func billing(_ scenario: ScenarioTest) async throws {
        try await scenario.run()
    }
    // end
}

@Suite struct SwiftTests {
    @Test func `in Swift Testing, a failing scenario is an issue at its Lua line`() async throws {
        let project = try ScenarioProject(
            """
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

    @Test func `in Swift Testing, a scenario file that does not load is a failing case`() async throws {
        let project = try ScenarioProject("scenario(")
        let scenarios = try Scenarios.all(under: project.path)
        #expect(scenarios.count == 1)
        await withKnownIssue { try await scenarios[0].run() }
    }
}
