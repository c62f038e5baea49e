internal import Perilune

/// How far an import is, in one line of a terminal, once it has taken half a second.
final class ImportProgress {
    private let colors: Colors
    private let start = ContinuousClock.now
    private var isShown = false
    private let isTerminal = StandardStreams.isErrorTerminal

    init(_ colors: Colors) {
        self.colors = colors
    }

    func show(_ part: Double, _ rows: Int) {
        let duration = ContinuousClock.now - start
        guard isTerminal, duration > .milliseconds(500), part > 0 else { return }
        let rest = duration / part - duration
        let text = "\(Int(part * 100)) % · \(ConsoleRenderer.grouped(rows)) rows · about \(TimeText.text(rest)) left"
        StandardStreams.writeError("\r\u{1B}[K" + colors.dim(text))
        isShown = true
    }

    func end() {
        if isShown { StandardStreams.writeError("\r\u{1B}[K") }
    }
}
