internal import PeriluneScenarios

/// A progress line for a run of scenarios. Used by one thread at a time.
final class ScenarioProgress: @unchecked Sendable {
    private let line: ProgressLine
    private var total = 0
    private var done = 0
    private var failed = 0
    private var title = ""

    /// Creates a progress line; returns `nil` if standard error is not a terminal.
    init?() {
        guard let line = ProgressLine() else { return nil }
        self.line = line
    }

    /// Removes the line before other output.
    func erase() { line.erase() }

    /// Updates the line for an event.
    func receive(_ event: ScenarioEvent) {
        switch event {
        case .started(let run): total = run.count
        case .scenarioStarted(let scenario): title = scenario.title
        case .scenarioEnded(let result):
            done += 1
            if !result.outcome.isSuccess { failed += 1 }
        case .ended: return
        }
        draw()
    }

    /// Redraws the line between events, because a long scenario causes none.
    func tick() {
        if total > 0 { draw() }
    }

    private func draw() {
        line.show("\(done)/\(total)" + (failed > 0 ? ", \(failed) failed" : "") + "  \(title)")
    }
}
