internal import Foundation
internal import Perilune
internal import Synchronization

/// The time that each run of a service may take.
///
/// The run has that limit itself. This ends the process where a run goes on nevertheless, as one long instruction of Lua does: nothing
/// else would run again. SQLite rolls back what was not committed when the file is opened next.
final class RunLimit: Sendable {
    /// How long it may go on: rolling back may take some time. Counted in looks, not by the clock, which goes on while the process is stopped.
    private static let grace = (looks: 10, pause: 0.1)
    private let duration: Duration
    private let hasEnded = Atomic(false)

    init(_ duration: Duration) {
        self.duration = duration
    }

    /// Looks after the runs of a host, until ``end()``.
    func watch(_ host: ScriptHost) {
        // A thread of its own: those of Swift's concurrency may all be busy.
        Thread.detachNewThread { [weak host, self] in
            var count = 0
            while !hasEnded.load(ordering: .acquiring), let isOverdue = host.map(\.isOverdue) {
                count = isOverdue ? count + 1 : 0
                if count > Self.grace.looks { ErrorEnding().end(at: failure) }
                Thread.sleep(forTimeInterval: Self.grace.pause)
            }
        }
    }

    /// From now on the process is not ended.
    func end() {
        hasEnded.store(true, ordering: .releasing)
    }

    private var failure: CommandFailure {
        .timeout("a run went on after its limit of \(duration) and could not be stopped, so all runs were ended")
    }
}
