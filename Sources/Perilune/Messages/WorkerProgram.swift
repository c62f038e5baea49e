internal import Foundation
internal import PeriluneDependencies
internal import PeriluneIsolation
internal import PeriluneLua
internal import Synchronization

/// The program that runs as a worker process.
enum WorkerProgram {
    /// The first argument of a worker process.
    static let argument = "--perilune-script-worker"
    /// Whether this program can be started as a worker.
    static let isOwn = Atomic(false)

    /// Starts a worker process.
    ///
    /// - Throws: `LuaError` with code `usage` if no program is found or it cannot be started.
    static func start(_ isolation: ScriptIsolation.Process) throws -> WorkerProcess {
        let path = try isolation.program ?? program()
        // Passes the time zone on, because scripts use it for local dates.
        let zone = EnvironmentVariables.ofProcess["TZ"].map { ["TZ=\($0)"] } ?? []
        do {
            return try WorkerProcess(
                WorkerProcess.Program(
                    path: path, arguments: [path, argument].map { Array($0.utf8) },
                    environment: ["SWIFT_BACKTRACE=enable=no"] + zone))
        } catch {
            throw LuaError(.usage, "the process of the scripts cannot be started: \(error)")
        }
    }

    /// Returns the path of this program, or of `perilune-worker` in the same folder.
    private static func program() throws -> String {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        if isOwn.load(ordering: .acquiring) { return own }
        let worker = PathParts(own).folder + "/perilune-worker"
        guard FileManager.default.isExecutableFile(atPath: worker) else {
            throw LuaError(
                .usage,
                "no program was found that runs scripts in a process of its own; call ScriptWorker.runIfStarted() first in this one, "
                    + "or put perilune-worker into its folder")
        }
        return worker
    }
}
