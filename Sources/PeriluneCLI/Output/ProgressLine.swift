internal import Foundation
internal import Perilune
internal import PeriluneDependencies

/// A progress message in the last line of a terminal, shown only during long operations. Used by one thread at a time.
final class ProgressLine: @unchecked Sendable {
    private let start = ContinuousClock.now
    private let delay: Duration
    private var lastDrawn: ContinuousClock.Instant?
    private var isVisible = false
    private let write: @Sendable (String) -> Void
    /// Returns the width of the terminal. Called for each redraw, because the width may change.
    private let columns: @Sendable () -> Int

    /// Creates a progress line; returns `nil` if standard error is not a terminal.
    ///
    /// - Parameter delay: The time before the line appears.
    init?(
        isTerminal: Bool = StandardStreams.isErrorTerminal,
        columns: @escaping @Sendable () -> Int = { StandardStreams.errorColumns },
        delay: Duration = .milliseconds(500), _ write: @escaping @Sendable (String) -> Void = StandardStreams.writeError
    ) {
        guard isTerminal, EnvironmentVariables.ofProcess["TERM"] != "dumb" else { return nil }
        (self.write, self.columns, self.delay) = (write, columns, delay)
    }

    /// Redraws the line if the delay has passed, at most ten times per second.
    func show(_ text: @autoclosure () -> String) {
        let now = ContinuousClock.now
        guard now - start > delay, lastDrawn.map({ now - $0 > .milliseconds(100) || !isVisible }) ?? true else { return }
        lastDrawn = now
        // Cut to the width, because a wrapped line could not be erased.
        write("\r\u{1B}[K" + DisplayText.cut(DisplayText.escaped(text()), to: columns() - 1, ellipsis: ""))
        isVisible = true
    }

    /// Shows the completed fraction and the estimated remaining time.
    ///
    /// - Parameter details: Additional text.
    func show(_ title: String, part: Double, _ details: @autoclosure () -> String = "") {
        guard part > 0, part <= 1 else { return }
        let duration = ContinuousClock.now - start
        show(
            [title, "\(Int(part * 100)) %", details(), "about \(TimeText.text(duration / part - duration)) left"].filter {
                !$0.isEmpty
            }.joined(separator: " · "))
    }

    /// Removes the line before other output.
    func erase() {
        guard isVisible else { return }
        write("\r\u{1B}[K")
        isVisible = false
    }
}
