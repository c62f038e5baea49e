internal import Perilune
internal import Synchronization

/// The time that a command may take as a whole: opening the database, scripts, and what they have left behind.
///
/// Each run of a script has the limit too, so that it ends at its own line; this ends what consists of many, or of none.
final class TimeLimit: Sendable {
    let duration: Duration
    private let deadline: ContinuousClock.Instant
    private let state = Mutex((hasPassed: false, hasEnded: false))

    init(_ duration: Duration) {
        self.duration = duration
        deadline = .now + duration
    }

    /// Whether the host was cancelled because the time was over.
    var hasPassed: Bool { state.withLock { $0.hasPassed } }

    var failure: CommandFailure {
        var report = ErrorReport("the script ran longer than its limit of \(duration)", kind: "timeout")
        report.help = "the limit was set by --timeout"
        return CommandFailure(report)
    }

    /// Cancels a host once the time is over, and a moment later again: what it does may begin something new.
    func watch(_ host: ScriptHost) {
        Task.detached { [weak host, self] in
            // The limit of a run that began with the command comes first, and names its line.
            try? await Task.sleep(until: deadline + .milliseconds(100), clock: .continuous)
            while let host, !state.withLock({ $0.hasEnded }) {
                state.withLock { $0.hasPassed = true }
                host.cancel()
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    /// Nothing is cancelled any more.
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
