internal import PeriluneBindings
internal import PeriluneIsolation
internal import PeriluneDependencies
internal import PeriluneLua

/// A worker that runs scenarios one after the other, on a dedicated thread with a large stack.
actor ScenarioWorker {
    /// A function that creates the event loops of an attempt. Called on the thread of the worker.
    typealias MakeLoops = (ManualClock) -> LoopGroup

    private nonisolated let thread = LuaThread()
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// The event loops of the current attempt.
    private var loops: LoopGroup?
    /// The separate process that runs the scenarios, if scenarios are isolated.
    private var process: ScenarioProcess?

    /// Runs one job.
    func perform(_ job: ScenarioQueue.Job, _ token: RunningScenarios.Token, with tools: ScenarioTools) async -> ScenarioResult {
        defer { loops = nil }
        return await withTaskExecutorPreference(thread.preference) {
            // Capturing `self` makes the job run on the thread of this worker.
            _ = self
            return await ScenarioPerformance(job: job, token: token, tools: tools) { clock in self.makeLoops(clock: clock) }
                .result()
        }
    }

    /// Runs jobs until none is left, or until this worker is abandoned.
    func work(_ run: RunningScenarios, with tools: ScenarioTools) async {
        while let job = run.queue.take() {
            let token = run.begin(job)
            let result =
                if let program = tools.program {
                    perform(job, token, by: program, with: tools)
                } else {
                    await perform(job, token, with: tools)
                }
            guard run.end(token, result) else { return }
        }
        process?.end()
        run.leave()
    }

    /// Runs one job in the process of this worker, and blocks the thread. The process is started for the first job, and again
    /// after a crash.
    private func perform(
        _ job: ScenarioQueue.Job, _ token: RunningScenarios.Token, by program: WorkerProcess.Program, with tools: ScenarioTools
    ) -> ScenarioResult {
        do {
            let process = try process ?? ScenarioProcess(program)
            self.process = process
            if let result = process.perform(job, token, tools) { return result }
            self.process = nil
            return process.resultOfEnd(job, token)
        } catch {
            var result = ScenarioResult(job.entry.scenario, .errored, seed: token.seed)
            result.failures = [ScenarioFailure("a process for the scenario cannot be started: \(error)", kind: "io")]
            return result
        }
    }

    private func makeLoops(clock: ManualClock) -> LoopGroup {
        let wake: @Sendable () -> Void = { [weak self, thread] in
            thread.enqueue { [weak self] in self?.assumeIsolated { $0.proceed() } }
        }
        let group = LoopGroup(clock: clock, thread: thread, wake: wake) { self.start($0, $1, $2) }
        loops = group
        return group
    }

    /// Calls a loop source in a separate task.
    private func start(_ loop: ScriptLoop, _ source: LoopSource, _ didEnd: @escaping () -> Void) -> Task<Void, Never> {
        Task {
            await withTaskExecutorPreference(thread.preference) {
                // Capturing `self` makes the task run on the thread of this worker.
                _ = self
                await loop.call(source)
            }
            didEnd()
        }
    }

    private func proceed() {
        loops?.proceed()
    }
}

/// Objects that the scenarios of a run share.
struct ScenarioTools: Sendable {
    let databases: ScenarioDatabases
    let chunks: ChunkCache
    let options: ScenarioOptions
    let snapshots: any SnapshotRegistry
    /// The collector of the lines that have run; `nil` if coverage is not measured.
    var coverage: CoverageCollector?
    /// The program that runs scenarios in another process; `nil` means that they run in this process.
    var program: WorkerProcess.Program?
}
