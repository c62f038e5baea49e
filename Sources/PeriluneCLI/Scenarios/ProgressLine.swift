internal import Foundation
internal import Perilune
internal import PeriluneScenarios

/// How far the run is, in the last line of a terminal. Used by one thread at a time.
final class ProgressLine: @unchecked Sendable {
    private var total = 0
    private var done = 0
    private var failed = 0
    private var title = ""
    private let start = ContinuousClock.now
    private var lastDrawn: ContinuousClock.Instant?
    private var isVisible = false
    private let write: @Sendable (String) -> Void
    /// Asked each time: people make their windows wider and narrower.
    private let columns: @Sendable () -> Int

    /// `nil` if errors do not go to a terminal.
    init?(
        isTerminal: Bool = StandardStreams.isErrorTerminal, columns: @escaping @Sendable () -> Int = { StandardStreams.errorColumns },
        _ write: @escaping @Sendable (String) -> Void = StandardStreams.writeError
    ) {
        guard isTerminal, ProcessInfo.processInfo.environment["TERM"] != "dumb" else { return nil }
        (self.write, self.columns) = (write, columns)
    }

    /// Takes the line away, before something else is written.
    func erase() {
        guard isVisible else { return }
        write("\r\u{1B}[K")
        isVisible = false
    }

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

    /// Not in the first half second, and then ten times a second at most.
    private func draw() {
        let now = ContinuousClock.now
        guard now - start > .milliseconds(500), lastDrawn.map({ now - $0 > .milliseconds(100) || !isVisible }) ?? true else { return }
        lastDrawn = now
        let counts = "\(done)/\(total)" + (failed > 0 ? ", \(failed) failed" : "")
        // A line that is broken could not be erased.
        let line = DisplayText.cut(DisplayText.escaped("\(counts)  \(title)"), to: columns() - 1, ellipsis: "")
        write("\r\u{1B}[K" + line)
        isVisible = true
    }
}
