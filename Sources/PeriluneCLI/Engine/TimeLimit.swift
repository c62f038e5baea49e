internal import Foundation
internal import Perilune
internal import Synchronization

/// The time that a command may take as a whole: opening the database, scripts, and what they have left behind.
///
/// Each run of a script has the limit too, so that it ends at its own line; this ends what consists of many, or of none.
final class TimeLimit: Sendable {
    /// How long a host that was cancelled may go on. Counted in looks, not by the clock, which goes on while the process is stopped.
    private static let grace = (looks: 15, pause: Duration.milliseconds(20))
    let duration: Duration
    private let deadline: ContinuousClock.Instant
    private let state = Mutex((hasPassed: false, hasEnded: false))

    init(_ duration: Duration) {
        self.duration = duration
        deadline = .now + duration
    }

    /// Whether the host was cancelled because the time was over.
    var hasPassed: Bool { state.withLock { $0.hasPassed } }

    var failure: CommandFailure { .timeout("the script ran longer than its limit of \(duration)") }

    /// The failure of a script that was cancelled because the time was over, with its place.
    func failure(at cancellation: ErrorReport) -> CommandFailure {
        var report = cancellation
        let failure = failure.report
        (report.message, report.kind, report.help) = (failure.message, failure.kind, failure.help)
        return CommandFailure(report)
    }

    /// Cancels a host once the time is over, again and again, as what it does may begin something new. If it does not end then, ends the
    /// process: neither one call of a function of SQLite's nor ten thousand tasks end at once. SQLite rolls back what was not committed
    /// when the file is opened next.
    func watch(_ host: ScriptHost) {
        // A thread of its own: those of Swift's concurrency may all be busy.
        Thread.detachNewThread { [weak host, self] in
            // The limit of a run that began with the command comes first, and names its line.
            wait(until: deadline + .milliseconds(100))
            for _ in 0..<Self.grace.looks {
                guard pass() else { return }
                host?.cancelRunOrNext()
                wait(until: ContinuousClock.now + Self.grace.pause)
            }
            endProcessUnlessEnded()
        }
    }

    /// Notes that the time is over. Returns `false` if the command has ended before.
    private func pass() -> Bool {
        state.withLock { state in
            if !state.hasEnded { state.hasPassed = true }
            return !state.hasEnded
        }
    }

    /// Holds the lock meanwhile, so that the command does not report an end of its own beside this.
    private func endProcessUnlessEnded() {
        state.withLock { state in
            guard !state.hasEnded else { return }
            ErrorEnding().end(at: failure)
        }
    }

    /// Looks each second whether the command has ended.
    private func wait(until instant: ContinuousClock.Instant) {
        while !state.withLock({ $0.hasEnded }), ContinuousClock.now < instant {
            Thread.sleep(forTimeInterval: min(ContinuousClock.now.duration(to: instant) / .seconds(1), 1))
        }
    }

    /// From now on nothing is cancelled, and the process not ended.
    func end() {
        state.withLock { $0.hasEnded = true }
    }

    /// Waits for what cannot be cancelled, but no longer than the limit. It may go on in the background then; the command ends.
    static func bounding<Result: Sendable>(
        _ limit: TimeLimit?, _ operation: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        guard let limit else { return try await operation() }
        return try await withCheckedThrowingContinuation { continuation in
            let first = First(continuation)
            Task {
                do {
                    let result = try await operation()
                    first.take()?.resume(returning: result)
                } catch {
                    first.take()?.resume(throwing: error)
                }
            }
            Task.detached {
                try? await Task.sleep(until: limit.deadline, clock: .continuous)
                first.take()?.resume(throwing: limit.failure)
            }
        }
    }

    /// Hands a continuation to the first that asks for it.
    private final class First<Result: Sendable>: Sendable {
        private let waiting: Mutex<CheckedContinuation<Result, any Error>?>

        init(_ continuation: CheckedContinuation<Result, any Error>) {
            waiting = Mutex(continuation)
        }

        func take() -> CheckedContinuation<Result, any Error>? {
            waiting.withLock { waiting in
                defer { waiting = nil }
                return waiting
            }
        }
    }
}

extension CommandFailure {
    /// What goes on beyond the limit that `--timeout` sets.
    static func timeout(_ message: String) -> CommandFailure {
        var report = ErrorReport(message, kind: "timeout")
        report.help = "the limit was set by --timeout"
        return CommandFailure(report)
    }
}
