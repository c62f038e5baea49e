internal import PeriluneScenarios

/// How far a run of scenarios is. Used by one thread at a time.
final class ScenarioProgress: @unchecked Sendable {
    private let line: ProgressLine
    private var total = 0
    private var done = 0
    private var failed = 0
    private var title = ""

    /// `nil` if errors do not go to a terminal.
    init?() {
        guard let line = ProgressLine() else { return nil }
        self.line = line
    }

    /// Takes the line away, before something else is written.
    func erase() { line.erase() }

    /// Takes in what has happened, and draws the line anew, if that is due.
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

    /// Draws the line anew, if that is due: a scenario that takes long brings no news.
    func tick() {
        if total > 0 { draw() }
    }

    private func draw() {
        line.show("\(done)/\(total)" + (failed > 0 ? ", \(failed) failed" : "") + "  \(title)")
    }
}
