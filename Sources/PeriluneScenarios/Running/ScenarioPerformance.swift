/// All attempts at a scenario: retries after failures, and repetitions under stress.
struct ScenarioPerformance {
    let job: ScenarioQueue.Job
    let token: RunningScenarios.Token
    let tools: ScenarioTools
    let makeLoops: ScenarioWorker.MakeLoops
    var scenario: Scenario { job.entry.scenario }
    var options: ScenarioOptions { tools.options }

    init(
        job: ScenarioQueue.Job, token: RunningScenarios.Token, tools: ScenarioTools, makeLoops: @escaping ScenarioWorker.MakeLoops
    ) {
        (self.job, self.token, self.tools, self.makeLoops) = (job, token, tools, makeLoops)
    }

    nonisolated(nonsending) func result() async -> ScenarioResult {
        if let reason = scenario.skip { return skipped(reason.isEmpty ? nil : reason) }
        if scenario.isTodo { return skipped("to do") }
        guard options.stress > 1 else { return await performed(seed: options.seed) }
        return await stressed()
    }

    private func skipped(_ reason: String?) -> ScenarioResult {
        var result = ScenarioResult(scenario, .skipped, seed: options.seed)
        result.reason = reason
        result.attempts = 0
        return result
    }

    // MARK: - Attempts

    /// Runs the scenario until it passes, within the allowed number of attempts.
    nonisolated(nonsending) private func performed(seed: RunSeed) async -> ScenarioResult {
        var earlier: [ScenarioAttemptResult] = []
        while true {
            // Each attempt has a different seed, because random failures would repeat with the same one.
            var result = judged(await tried(earlier.count + 1, RunSeed(seed.value &+ UInt64(earlier.count))))
            let mayRetry = !result.outcome.isSuccess && result.outcome != .interrupted && earlier.count < scenario.retry
            guard mayRetry else {
                (result.attempts, result.earlierAttempts) = (earlier.count + 1, earlier)
                if result.outcome == .passed, let first = earlier.first {
                    result.isFlaky = true
                    result.failures = first.failures
                }
                return result
            }
            earlier.append(ScenarioAttemptResult(result))
        }
    }

    nonisolated(nonsending) private func tried(_ number: Int, _ seed: RunSeed) async -> ScenarioResult {
        guard scenario.crash != nil else { return await attempt(number, seed, nil) }
        var trials = CrashTrials(self, number: number, seed: seed)
        return await trials.result()
    }

    /// Runs the scenario once.
    ///
    /// - Parameter crashes: The points at which processes end, for a scenario with the option `crash`.
    nonisolated(nonsending) func attempt(_ number: Int, _ seed: RunSeed, _ crashes: CrashPlan?) async -> ScenarioResult {
        await ScenarioAttempt(
            scenario: scenario, source: job.entry.source, tools: tools, seed: seed, number: number, crashes: crashes,
            makeLoops: makeLoops
        ) { states, time in
            token.didStart(timeout: time) { states.cancel() }
        }.run()
    }

    /// Reverses the outcome if the scenario is expected to fail.
    private func judged(_ result: ScenarioResult) -> ScenarioResult {
        guard let reason = scenario.fails else { return result }
        var result = result
        switch result.outcome {
        case .failed where result.failsOtherwise, .timedOut where result.failsOtherwise:
            result.notes.append("it failed, but not as expected" + (reason.isEmpty ? "" : ": \(reason)"))
        case .failed, .timedOut:
            result.notes += result.failures.map { failure in
                let place = failure.place.map { " at \($0)" } ?? ""
                return "it failed with this\(place): \(failure.message)"
            }
            result.outcome = .passed
            result.reason = "failed as expected" + (reason.isEmpty ? "" : ": \(reason)")
            result.failures = []
        case .passed:
            let why = reason.isEmpty ? "" : " (\(reason))"
            result.outcome = .failed
            result.failures = [
                ScenarioFailure(
                    "it passed, but was expected to fail\(why); remove the option `fails`", kind: "fails", file: scenario.file,
                    line: scenario.line)
            ]
        default: break
        }
        return result
    }

    // MARK: - Stress

    /// Runs the scenario repeatedly, each time with another seed, until the first failure.
    ///
    /// - Returns: The round that failed; if none failed, the first flaky round, or else the last one. The attempts in it belong to
    ///   this round alone, and a note names the round.
    nonisolated(nonsending) private func stressed() async -> ScenarioResult {
        let count = options.stress
        var (total, flakyCount) = (Duration.zero, 0)
        var (last, firstFlaky): (ScenarioResult?, ScenarioResult?) = (nil, nil)
        for number in 0..<count {
            // The attempts of a round have successive seeds.
            let seed = RunSeed(options.seed.value &+ UInt64(number) &* UInt64(1 + max(0, scenario.retry)))
            var result = await performed(seed: seed)
            total += result.duration
            if result.isFlaky || result.outcome != .passed { result.notes.append("repetition \(number + 1) of \(count)") }
            if result.isFlaky {
                flakyCount += 1
                firstFlaky = firstFlaky ?? result
            }
            last = result
            if result.outcome != .passed { break }
        }
        var result = last ?? ScenarioResult(scenario, .passed, seed: options.seed)
        if result.outcome == .passed {
            result = firstFlaky ?? result
            result.notes.append("passed \(count) times")
        }
        if flakyCount > 0 {
            let times = flakyCount == 1 ? "1 repetition" : "\(flakyCount) repetitions"
            result.notes.append("\(times) passed only after a failed attempt")
        }
        result.duration = total
        return result
    }
}
