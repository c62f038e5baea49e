internal import Foundation
internal import PeriluneLua
internal import Synchronization

/// The running scenarios: to list them, to end them, or to notice that one does not end.
final class RunningScenarios: Sendable {
    /// A job that has begun.
    final class Token: Sendable {
        let job: ScenarioQueue.Job
        let seed: RunSeed
        let start = ContinuousClock.now
        /// Cancels the current attempt.
        fileprivate let attempt = Mutex<(cancel: (@Sendable () -> Void)?, isCancelled: Bool)>((nil, false))
        /// The time by which the current attempt should have ended by itself.
        fileprivate let deadline = Mutex<ContinuousClock.Instant?>(nil)

        /// Called with the time that it has, as an attempt begins.
        private let willStart: @Sendable (Duration) -> Void

        init(_ job: ScenarioQueue.Job, seed: RunSeed, willStart: @escaping @Sendable (Duration) -> Void = { _ in }) {
            (self.job, self.seed, self.willStart) = (job, seed, willStart)
        }

        /// Reports that an attempt has begun.
        ///
        /// - Parameter cancel: Ends it, from any thread.
        func didStart(timeout: Duration, cancel: @escaping @Sendable () -> Void) {
            willStart(timeout)
            let isCancelled = attempt.withLock { attempt in
                attempt.cancel = cancel
                return attempt.isCancelled
            }
            if isCancelled { cancel() }
            deadline.withLock { $0 = ContinuousClock.now + timeout }
        }

        func cancel() {
            let cancel = attempt.withLock { attempt in
                attempt.isCancelled = true
                return attempt.cancel
            }
            cancel?()
        }

        /// Whether it was to end before its time.
        var isCancelled: Bool { attempt.withLock { $0.isCancelled } }

        func isOverdue(by grace: Duration) -> Bool {
            deadline.withLock { $0.map { ContinuousClock.now > $0 + grace } ?? false }
        }
    }

    let queue: ScenarioQueue
    private let seed: RunSeed
    private let state = Mutex(State())
    private let willBegin: @Sendable (ScenarioQueue.Job) -> Void
    private let didEnd: @Sendable (ScenarioResult, ScenarioQueue.Job) -> Void
    private let didFinish: @Sendable () -> Void

    private struct State {
        var running: [Int: Token] = [:]
        var workers = 0
        var isInterrupted = false
    }

    /// - Parameters:
    ///   - willBegin: Called with each job, on the thread of a worker.
    ///   - didEnd: Called with each result, on the thread of a worker.
    ///   - didFinish: Called once, when no worker is left.
    init(
        _ queue: ScenarioQueue, seed: RunSeed, workers: Int, willBegin: @escaping @Sendable (ScenarioQueue.Job) -> Void,
        didEnd: @escaping @Sendable (ScenarioResult, ScenarioQueue.Job) -> Void, didFinish: @escaping @Sendable () -> Void
    ) {
        (self.queue, self.seed) = (queue, seed)
        (self.willBegin, self.didEnd, self.didFinish) = (willBegin, didEnd, didFinish)
        state.withLock { $0.workers = workers }
    }

    /// The running scenarios, the oldest first.
    var tokens: [Token] { state.withLock { $0.running.values.sorted { $0.start < $1.start } } }

    /// Whether no worker is left.
    var isFinished: Bool { state.withLock { $0.workers == 0 } }

    func begin(_ job: ScenarioQueue.Job) -> Token {
        let token = Token(job, seed: seed)
        let isInterrupted = state.withLock { state in
            state.running[job.number] = token
            return state.isInterrupted
        }
        // It was taken before the queue was closed.
        if isInterrupted { token.cancel() }
        willBegin(job)
        return token
    }

    /// Stores a result. Returns whether it was still expected: a worker that was given up must end.
    func end(_ token: Token, _ result: ScenarioResult) -> Bool {
        let isCurrent = state.withLock { $0.running.removeValue(forKey: token.job.number) != nil }
        guard isCurrent else { return false }
        queue.end(token.job)
        didEnd(result, token.job)
        return true
    }

    /// Reports that a worker has nothing more to do.
    func leave() {
        let isLast = state.withLock { state in
            state.workers -= 1
            return state.workers == 0
        }
        if isLast { didFinish() }
    }

    /// Cancels all active scenarios and starts no more.
    func interrupt() {
        queue.close()
        state.withLock { $0.isInterrupted = true }
        for token in tokens { token.cancel() }
    }
}
