internal import Foundation
internal import PeriluneIsolation

/// What a process that runs scenarios, and the one that has started it, send each other.
enum ScenarioMessage: UInt8 {
    /// To the process: the identifier of a scenario.
    case run = 1
    /// From it: an attempt begins that may take this number of seconds.
    case began
    /// From it: ``ScenarioAnswer`` in JSON.
    case ended
}

/// What has become of a scenario in another process.
struct ScenarioAnswer: Codable {
    var result: ScenarioResult
    /// The snapshots that it has compared.
    var snapshots: [String]
}

/// A process that runs scenarios, one after the other.
final class ScenarioProcess: Sendable {
    private let process: WorkerProcess

    /// - Throws: ``WorkerProcess/StartError``.
    init(_ program: WorkerProcess.Program) throws {
        process = try WorkerProcess(program)
    }

    /// Runs a scenario, and blocks the thread meanwhile.
    ///
    /// - Returns: `nil` if the process has ended.
    func perform(_ job: ScenarioQueue.Job, _ token: RunningScenarios.Token, _ snapshots: SnapshotUses) -> ScenarioResult? {
        try? process.channel.send(Frame(kind: ScenarioMessage.run.rawValue, request: 0, values: [.text(job.entry.scenario.id)]))
        while let frame = try? process.channel.receive() {
            switch ScenarioMessage(rawValue: frame.kind) {
            case .began:
                guard case .number(let seconds)? = frame.values.first, seconds.isFinite else { return nil }
                token.didStart(timeout: .seconds(seconds)) { [process] in process.kill(patience: .zero) }
            case .ended:
                let bytes = frame.values.first?.bytes ?? []
                guard let answer = try? JSONDecoder().decode(ScenarioAnswer.self, from: Data(bytes)) else { return nil }
                snapshots.use(answer.snapshots, of: job.entry.scenario.id)
                return answer.result
            case .run, nil: return nil
            }
        }
        return nil
    }

    /// The result of a scenario during which the process has ended.
    func resultOfEnd(_ job: ScenarioQueue.Job, _ token: RunningScenarios.Token) -> ScenarioResult {
        process.kill(patience: .zero)
        let ending = process.waitForEnd()
        let scenario = job.entry.scenario
        guard !token.isCancelled, ending.signal != SIGINT else { return ScenarioResult(scenario, .interrupted, seed: token.seed) }
        var result = ScenarioResult(scenario, .failed, seed: token.seed)
        result.failures = [
            ScenarioFailure("the process of the scenario \(ending.text)", kind: "crashed", file: scenario.file, line: scenario.line)
        ]
        result.duration = ContinuousClock.now - token.start
        return result
    }

    /// Lets it end by itself, and waits for that.
    func end() {
        process.channel.shutDown()
        _ = process.waitForEnd()
    }
}
