internal import Foundation

/// A thread that detects blocked workers and replaces them. A scenario that cannot be ended, for example because it waits for a program,
/// must not stop the run. If the scenario has a separate process, that process is killed.
final class Supervisor: Sendable {
    private let running: RunningScenarios
    /// The time that a scenario may run beyond its limit.
    private let grace: Duration
    /// Whether scenarios run in separate processes.
    private let isIsolated: Bool
    private let startWorker: @Sendable () -> Void

    init(_ running: RunningScenarios, grace: Duration, isIsolated: Bool, startWorker: @escaping @Sendable () -> Void) {
        (self.running, self.grace, self.isIsolated, self.startWorker) = (running, grace, isIsolated, startWorker)
    }

    /// Watches the workers until they have ended, on a separate thread, which no script can block.
    func start() {
        Thread.detachNewThread { [self] in
            while !running.isFinished {
                Thread.sleep(forTimeInterval: 0.1)
                for token in running.tokens where token.isOverdue(by: grace) { giveUp(token) }
            }
        }
    }

    private func giveUp(_ token: RunningScenarios.Token) {
        token.cancel()
        var result = ScenarioResult(token.job.entry.scenario, .timedOut, seed: token.seed)
        let scenario = token.job.entry.scenario
        let end = isIsolated ? "its process was killed" : "its worker was abandoned and replaced"
        result.failures = [
            ScenarioFailure(
                "it did not end at its limit and could not be stopped; \(end)", kind: isIsolated ? "killed" : "lost_worker",
                file: scenario.file, line: scenario.line)
        ]
        result.duration = ContinuousClock.now - token.start
        if running.end(token, result) { startWorker() }
    }
}
