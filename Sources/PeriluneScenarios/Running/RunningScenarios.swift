internal import Foundation
internal import PeriluneLua
internal import Synchronization

/// The running scenarios, which can be listed, ended, and checked for missed deadlines.
final class RunningScenarios: Sendable {
    /// A job that has started.
    final class Token: Sendable {
        let job: ScenarioQueue.Job
        let seed: RunSeed
        let start = ContinuousClock.now
        /// The function that cancels the current attempt, and whether the job is cancelled.
        fileprivate let attempt = Mutex<(cancel: (@Sendable () -> Void)?, isCancelled: Bool)>((nil, false))
        /// The time by which the current attempt should have ended.
        fileprivate let deadline = Mutex<ContinuousClock.Instant?>(nil)

        /// Called with the time limit when an attempt begins.
        private let willStart: @Sendable (Duration) -> Void

        init(_ job: ScenarioQueue.Job, seed: RunSeed, willStart: @escaping @Sendable (Duration) -> Void = { _ in }) {
            (self.job, self.seed, self.willStart) = (job, seed, willStart)
        }

        /// Records that an attempt has begun.
        ///
        /// - Parameter cancel: Ends the attempt. Can be called from any thread.
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

        /// Whether the job has been cancelled.
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
    ///   - didFinish: Called once, when the last worker has ended.
    init(
        _ queue: ScenarioQueue, seed: RunSeed, workers: Int, willBegin: @escaping @Sendable (ScenarioQueue.Job) -> Void,
        didEnd: @escaping @Sendable (ScenarioResult, ScenarioQueue.Job) -> Void, didFinish: @escaping @Sendable () -> Void
    ) {
        (self.queue, self.seed) = (queue, seed)
        (self.willBegin, self.didEnd, self.didFinish) = (willBegin, didEnd, didFinish)
        state.withLock { $0.workers = workers }
    }

    /// The tokens of the running scenarios, the oldest first.
    var tokens: [Token] { state.withLock { $0.running.values.sorted { $0.start < $1.start } } }

    /// Whether all workers have ended.
    var isFinished: Bool { state.withLock { $0.workers == 0 } }

    func begin(_ job: ScenarioQueue.Job) -> Token {
        let token = Token(job, seed: seed)
        let isInterrupted = state.withLock { state in
            state.running[job.number] = token
            return state.isInterrupted
        }
        // The worker may have taken the job before the queue was closed.
        if isInterrupted { token.cancel() }
        willBegin(job)
        return token
    }

    /// Records a result. Returns `false` if the job is no longer running; its worker was abandoned and must end.
    func end(_ token: Token, _ result: ScenarioResult) -> Bool {
        let isCurrent = state.withLock { $0.running.removeValue(forKey: token.job.number) != nil }
        guard isCurrent else { return false }
        queue.end(token.job)
        didEnd(result, token.job)
        return true
    }

    /// Records that a worker has ended.
    func leave() {
        let isLast = state.withLock { state in
            state.workers -= 1
            return state.workers == 0
        }
        if isLast { didFinish() }
    }

    /// Cancels all active scenarios and prevents others from starting.
    func interrupt() {
        queue.close()
        state.withLock { $0.isInterrupted = true }
        for token in tokens { token.cancel() }
    }
}
