internal import Dispatch
internal import Synchronization

/// A progress line that shows the current migration if migrations take more than a second.
final class MigrationProgress: Sendable {
    private let names: [String]
    private let line: ProgressLine
    /// The number of finished migrations; `nil` after the end. The mutex also guards `line`.
    private let done = Mutex<Int?>(0)
    /// The timer that redraws the line during long migrations. Safe, because it is set before the object is shared.
    private nonisolated(unsafe) let ticks: any DispatchSourceTimer

    /// Creates a progress line; returns `nil` if standard error is not a terminal.
    init?(_ names: [String]) {
        guard let line = ProgressLine(delay: .seconds(1)) else { return nil }
        (self.names, self.line) = (names, line)
        ticks = DispatchSource.makeTimerSource(queue: .global())
        ticks.schedule(deadline: .now() + 1, repeating: .milliseconds(200))
        ticks.setEventHandler { [weak self] in self?.done.withLock { self?.draw($0) } }
        ticks.resume()
    }

    func didApply(_ name: String) {
        done.withLock {
            $0 = names.firstIndex(of: name).map { $0 + 1 } ?? $0
            draw($0)
        }
    }

    func end() {
        ticks.cancel()
        done.withLock {
            $0 = nil
            line.erase()
        }
    }

    private func draw(_ done: Int?) {
        guard let done, names.indices.contains(done) else { return }
        let title = "migration \(done + 1)/\(names.count): \(names[done])"
        if done > 0 { line.show(title, part: Double(done) / Double(names.count)) } else { line.show(title) }
    }
}
