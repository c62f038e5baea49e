internal import Foundation
internal import Perilune
internal import Synchronization

/// The time limit for each run of a service.
///
/// The host enforces this limit itself. This class ends the process if a run continues anyway, for example in one long Lua
/// instruction that would block all other runs. SQLite rolls back uncommitted changes when the file is opened again.
final class RunLimit: Sendable {
    /// The time that an overdue run has to end, because a rollback may be slow. It is counted in checks, because the clock continues while
    /// the process is suspended.
    private static let grace = (looks: 10, pause: 0.1)
    private let duration: Duration
    private let help: String
    private let hasEnded = Atomic(false)

    init(_ duration: Duration, help: String) {
        (self.duration, self.help) = (duration, help)
    }

    /// Watches the runs of a host until ``end()``.
    func watch(_ host: ScriptHost) {
        // This needs a separate thread, because the threads of Swift concurrency may all be busy.
        Thread.detachNewThread { [weak host, self] in
            var count = 0
            while !hasEnded.load(ordering: .acquiring), let isOverdue = host.map(\.isOverdue) {
                count = isOverdue ? count + 1 : 0
                if count > Self.grace.looks { ErrorOutput().end(at: failure) }
                Thread.sleep(forTimeInterval: Self.grace.pause)
            }
        }
    }

    /// Stops watching.
    func end() {
        hasEnded.store(true, ordering: .releasing)
    }

    private var failure: CommandFailure {
        .timeout("a run went on after its limit of \(duration) and could not be stopped, so all runs were ended", help: help)
    }
}
