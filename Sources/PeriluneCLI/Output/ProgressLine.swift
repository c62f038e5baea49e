internal import Foundation
internal import Perilune
internal import PeriluneDependencies

/// How far something is, in the last line of a terminal: drawn once it takes long, and taken away. Used by one thread at a time.
final class ProgressLine: @unchecked Sendable {
    private let start = ContinuousClock.now
    private let delay: Duration
    private var lastDrawn: ContinuousClock.Instant?
    private var isVisible = false
    private let write: @Sendable (String) -> Void
    /// Asked each time: people make their windows wider and narrower.
    private let columns: @Sendable () -> Int

    /// `nil` if errors do not go to a terminal.
    ///
    /// - Parameter delay: After which time the line is drawn.
    init?(
        isTerminal: Bool = StandardStreams.isErrorTerminal, columns: @escaping @Sendable () -> Int = { StandardStreams.errorColumns },
        delay: Duration = .milliseconds(500), _ write: @escaping @Sendable (String) -> Void = StandardStreams.writeError
    ) {
        guard isTerminal, EnvironmentVariables.ofProcess["TERM"] != "dumb" else { return nil }
        (self.write, self.columns, self.delay) = (write, columns, delay)
    }

    /// Draws the line anew, if that is due: not before the delay, and then ten times a second at most.
    func show(_ text: @autoclosure () -> String) {
        let now = ContinuousClock.now
        guard now - start > delay, lastDrawn.map({ now - $0 > .milliseconds(100) || !isVisible }) ?? true else { return }
        lastDrawn = now
        // A line that is broken could not be erased.
        write("\r\u{1B}[K" + DisplayText.cut(DisplayText.escaped(text()), to: columns() - 1, ellipsis: ""))
        isVisible = true
    }

    /// Draws a part of the whole, with the time that is probably left.
    ///
    /// - Parameter details: What else is known.
    func show(_ title: String, part: Double, _ details: @autoclosure () -> String = "") {
        guard part > 0, part <= 1 else { return }
        let duration = ContinuousClock.now - start
        show([title, "\(Int(part * 100)) %", details(), "about \(TimeText.text(duration / part - duration)) left"].filter { !$0.isEmpty }.joined(separator: " · "))
    }

    /// Takes the line away, before something else is written.
    func erase() {
        guard isVisible else { return }
        write("\r\u{1B}[K")
        isVisible = false
    }
}
