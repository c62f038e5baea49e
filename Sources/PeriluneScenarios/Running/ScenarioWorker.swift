internal import PeriluneLua
internal import Synchronization

/// Runs scenarios one after the other, on a thread of its own whose stack is large.
actor ScenarioWorker {
    private nonisolated let thread = LuaThread()
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Runs a closure on the thread.
    func perform<Result: Sendable>(_ body: @Sendable () -> Result) -> Result { body() }

    /// Takes jobs until there are no more, or until this worker was given up.
    func work(_ run: RunningScenarios, _ perform: @Sendable (ScenarioQueue.Job, RunningScenarios.Token) -> ScenarioResult) {
        while let job = run.queue.take() {
            let token = run.begin(job)
            let result = perform(job, token)
            guard run.end(token, result) else { return }
        }
        run.leave()
    }
}
