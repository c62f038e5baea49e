import Testing

@testable import PeriluneScenarios

@Suite struct ScenarioOutcomeTests {
    @Test func `outcomes of scenarios have the names that appear in reports`() {
        #expect(ScenarioOutcome.timedOut.rawValue == "timed_out")
    }
}
