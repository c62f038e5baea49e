import Testing

@testable import PeriluneScenarios

@Suite struct ScenarioOutcomeTests {
    @Test func `outcomes have the names that reports show`() {
        #expect(ScenarioOutcome.timedOut.rawValue == "timed_out")
    }
}
