internal import Foundation
internal import PeriluneIsolation

/// The messages between a process that runs scenarios and its parent process.
enum ScenarioMessage: UInt8 {
    /// To the process: the identifier of a scenario to run.
    case run = 1
    /// From the process: an attempt begins, which may take this number of seconds.
    case began
    /// From the process: the path of a snapshot, and the hash of the value that the scenario compares with it.
    case compares
    /// To the process, in reply to `compares`, on the connection for answers: the scenario that compares another value with the
    /// snapshot, if any.
    case compared
    /// From the process: for each file, a list of its name and of pairs of a line and the number of its executions.
    case covered
    /// From the process: a ``ScenarioResult`` as JSON.
    case ended
}

extension FrameChannel {
    func send(_ message: ScenarioMessage, _ values: [WireValue]) throws(SendingError) {
        try send(Frame(kind: message.rawValue, request: 0, values: values))
    }
}

/// A process that runs scenarios one after the other.
final class ScenarioProcess: Sendable {
    private let process: WorkerProcess

    /// - Throws: ``WorkerProcess/StartError``.
    init(_ program: WorkerProcess.Program) throws {
        process = try WorkerProcess(program)
    }

    /// Runs a scenario, and blocks the thread until the scenario ends.
    ///
    /// - Returns: `nil` if the process has ended.
    func perform(_ job: ScenarioQueue.Job, _ token: RunningScenarios.Token, _ tools: ScenarioTools) -> ScenarioResult? {
        let id = job.entry.scenario.id
        try? process.channel.send(.run, [.text(id)])
        while let frame = try? process.channel.receive() {
            switch ScenarioMessage(rawValue: frame.kind) {
            case .began:
                guard case .number(let seconds)? = frame.values.first, let timeout = try? Duration.fromLua(.number(seconds))
                else { return nil }
                token.didStart(timeout: timeout) { [process] in process.kill(patience: .zero) }
            case .compares:
                guard frame.values.count == 2, let path = frame.values[0].text, let hash = frame.values[1].bytes else {
                    return nil
                }
                let other = tools.snapshots.use(path, of: id, as: hash)
                try? process.answers.send(.compared, other.map { [.text($0)] } ?? [])
            case .covered: tools.coverage?.add(Self.coverage(frame.values))
            case .ended: return try? JSONDecoder().decode(ScenarioResult.self, from: Data(frame.values.first?.bytes ?? []))
            case .run, .compared, nil: return nil
            }
        }
        return nil
    }

    private static func coverage(_ values: [WireValue]) -> [String: [Int: Int]] {
        var files: [String: [Int: Int]] = [:]
        for value in values {
            guard let numbers = value.elements, let file = numbers.first?.text else { continue }
            let counts = numbers.dropFirst().compactMap { $0.integerValue.map { Int($0) } }
            for index in stride(from: 0, to: counts.count - 1, by: 2) {
                files[file, default: [:]][counts[index]] = counts[index + 1]
            }
        }
        return files
    }

    /// Returns the result of a scenario whose process has ended.
    func resultOfEnd(_ job: ScenarioQueue.Job, _ token: RunningScenarios.Token) -> ScenarioResult {
        process.kill(patience: .zero)
        let ending = process.waitForEnd()
        let scenario = job.entry.scenario
        guard !token.isCancelled, ending.signal != SIGINT else { return ScenarioResult(scenario, .interrupted, seed: token.seed) }
        var result = ScenarioResult(scenario, .failed, seed: token.seed)
        result.failures = [
            ScenarioFailure(
                "the process of the scenario \(ending.text)", kind: "crashed", file: scenario.file, line: scenario.line)
        ]
        result.duration = ContinuousClock.now - token.start
        return result
    }

    /// Ends the process by closing its connection, and kills it if it does not exit within ten seconds.
    func end() {
        process.end(within: .seconds(10))
    }
}
