internal import Foundation
internal import PeriluneDependencies
internal import PeriluneIsolation
internal import PeriluneScenarios

/// The program of worker processes that run scenarios: the same command with the same arguments, which selects the same scenarios.
enum ScenarioProgram {
    /// The environment variable that marks a worker process. Its value is the seed of the run.
    private static let mark = "PERILUNE_SCENARIO_PROCESS"

    /// The seed of the run, in a worker process; `nil` in the main process.
    static var seed: RunSeed? {
        guard WorkerEntry.isConnected else { return nil }
        return EnvironmentVariables.ofProcess[mark].flatMap { RunSeed($0) }
    }

    static func make(seed: RunSeed) throws -> WorkerProcess.Program {
        let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let environment = ProcessInfo.processInfo.environment.merging([mark: seed.description]) { $1 }
        return WorkerProcess.Program(
            path: path, arguments: RawArguments.all, environment: environment.map { "\($0)=\($1)" }, sharesStandardStreams: true)
    }
}
