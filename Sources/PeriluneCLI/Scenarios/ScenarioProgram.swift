internal import Foundation
internal import PeriluneDependencies
internal import PeriluneIsolation
internal import PeriluneScenarios

/// This command once more, in processes that run scenarios for it: with the same arguments, so that it selects the same.
enum ScenarioProgram {
    /// The variable by which such a process knows what it is. Its value is the seed of the run.
    private static let mark = "PERILUNE_SCENARIO_PROCESS"

    /// The seed of the run of which this process is a part; `nil`: it is the whole command.
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
