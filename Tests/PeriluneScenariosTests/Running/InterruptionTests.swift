import Testing

@testable import PeriluneScenarios

@Suite struct InterruptionTests {
    @Test func `a scenario that a worker has taken but not started is cancelled by an interruption`() throws {
        let project = try ScenarioProject("scenario('a', function(t) end)")
        let path = "\(project.path)/scenarios/a_scenario.lua"
        let file = try ScenarioFile(ScenarioLocation(path: path, under: project.path))
        let entry = SelectedScenarios.Entry(
            scenario: Scenario(id: "a", name: "a", file: path, line: 1), source: .init(file: file, templates: []))
        let queue = ScenarioQueue((0...2).map { ScenarioQueue.Job(number: $0, entry: entry, round: 1) })
        let running = RunningScenarios(
            queue, seed: RunSeed(1), workers: 2, willBegin: { _ in }, didEnd: { _, _ in }, didFinish: {})
        let begun = running.begin(try #require(queue.take()))
        let taken = try #require(queue.take())
        #expect(!begun.isCancelled)
        running.interrupt()
        #expect(begun.isCancelled)
        #expect(running.begin(taken).isCancelled)
        #expect(queue.take() == nil)
    }
}
