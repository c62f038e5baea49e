internal import Foundation

/// Notices workers that do not come back: a scenario that cannot be ended, because it waits for a program, must not end the run.
final class Supervisor: Sendable {
    private let running: RunningScenarios
    /// How long after its time was up a scenario may still run.
    private let grace: Duration
    private let startWorker: @Sendable () -> Void

    init(_ running: RunningScenarios, grace: Duration, startWorker: @escaping @Sendable () -> Void) {
        (self.running, self.grace, self.startWorker) = (running, grace, startWorker)
    }

    /// Looks after the workers until they have left: on a thread of its own, which no script can block.
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
        result.failures = [
            ScenarioFailure(
                "it did not end at its limit and could not be stopped; its worker was abandoned and replaced",
                kind: "lost_worker", file: scenario.file, line: scenario.line)
        ]
        result.duration = ContinuousClock.now - token.start
        if running.end(token, result) { startWorker() }
    }
}
