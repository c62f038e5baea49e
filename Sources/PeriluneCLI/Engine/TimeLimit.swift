internal import Foundation
internal import Perilune
internal import Synchronization

/// The time limit of a whole command: opening the database, running scripts, and the work that they leave running.
///
/// Each script run has the same limit, because its error names a line. This class covers commands with many runs or none.
final class TimeLimit: Sendable {
    /// The time that a cancelled host has to finish. It is counted in checks, because the clock continues while the process is suspended.
    private static let grace = (looks: 15, pause: Duration.milliseconds(20))
    let duration: Duration
    /// The help text of the failure, which names the source of the limit.
    let help: String
    private let deadline: ContinuousClock.Instant
    private let state = Mutex((hasPassed: false, hasEnded: false))

    init(_ duration: Duration, help: String) {
        (self.duration, self.help) = (duration, help)
        deadline = .now + duration
    }

    /// Whether this limit has cancelled the host.
    var hasPassed: Bool { state.withLock { $0.hasPassed } }

    var failure: CommandFailure { .timeout("the script ran longer than its limit of \(duration)", help: help) }

    /// Returns the failure of a script cancelled by this limit, with its location.
    func failure(at cancellation: ErrorReport) -> CommandFailure {
        var report = cancellation
        let failure = failure.report
        (report.message, report.kind, report.help) = (failure.message, failure.kind, failure.help)
        return CommandFailure(report)
    }

    /// Cancels a host repeatedly after the deadline, because running code may start something new. If the host does not finish, ends the
    /// process: a single call of an SQLite function cannot be interrupted, and cancelling ten thousand tasks takes time. SQLite rolls back
    /// uncommitted changes when the file is opened again.
    func watch(_ host: ScriptHost) {
        // This needs a separate thread, because the threads of Swift concurrency may all be busy.
        Thread.detachNewThread { [weak host, self] in
            // Wait a little longer, so that a run that began with the command can fail first with an error that names its line.
            wait(until: deadline + .milliseconds(100))
            for _ in 0..<Self.grace.looks {
                guard pass() else { return }
                host?.cancelRunOrNext()
                wait(until: ContinuousClock.now + Self.grace.pause)
            }
            endProcessUnlessEnded()
        }
    }

    /// Marks the limit as passed. Returns `false` if the command has already ended.
    private func pass() -> Bool {
        state.withLock { state in
            if !state.hasEnded { state.hasPassed = true }
            return !state.hasEnded
        }
    }

    /// Ends the process while holding the lock, so that the command does not report its own end as well.
    private func endProcessUnlessEnded() {
        state.withLock { state in
            guard !state.hasEnded else { return }
            ErrorOutput().end(at: failure)
        }
    }

    /// Waits until an instant or the end of the command, which is checked every second.
    private func wait(until instant: ContinuousClock.Instant) {
        while !state.withLock({ $0.hasEnded }), ContinuousClock.now < instant {
            Thread.sleep(forTimeInterval: min(ContinuousClock.now.duration(to: instant) / .seconds(1), 1))
        }
    }

    /// Stops watching. The limit no longer ends the process.
    func end() {
        state.withLock { $0.hasEnded = true }
    }

    /// Waits for an operation that cannot be cancelled, but no longer than the limit. The operation may continue in the background.
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

    /// A continuation that only the first caller of `take` receives.
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
    /// Returns the failure for exceeding a time limit.
    static func timeout(_ message: String, help: String) -> CommandFailure {
        CommandFailure(ErrorReport(message, kind: "timeout", help: help))
    }
}
