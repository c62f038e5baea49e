internal import Foundation
internal import PeriluneDependencies
internal import PeriluneIsolation
internal import PeriluneLua
internal import Synchronization

/// The process in which the scripts of an isolated host run.
///
/// A program that makes isolated hosts is started again for each of them, if it calls ``runIfStarted()`` first of all in its `main`,
/// which is on the main actor then. Another program finds `perilune-worker`, which the package builds, in its folder.
public enum ScriptWorker {
    /// The first argument of a process that runs scripts.
    private static let argument = "--perilune-script-worker"
    private static let isOwnProgram = Atomic(false)

    /// Runs scripts, and never returns, if this process was started for it; otherwise remembers that this program can be.
    ///
    /// To be called before anything has started a thread: files can be taken away only from a process that has one. Where that is too
    /// late the layer `IsolationLayer.landlock` is missing.
    public static func runIfStarted() {
        guard CommandLine.arguments.dropFirst().first == argument, WorkerEntry.isConnected else {
            return isOwnProgram.store(true, ordering: .releasing)
        }
        WorkerServer.run()
    }

    /// Starts a process for scripts.
    ///
    /// - Throws: `LuaError` with code `usage` if there is no program for it, or it cannot be started.
    static func start(_ isolation: ScriptIsolation.Process) throws -> WorkerProcess {
        let path = try isolation.program ?? program()
        // Dates in scripts are of the time zone of the machine.
        let zone = EnvironmentVariables.ofProcess["TZ"].map { ["TZ=\($0)"] } ?? []
        do {
            return try WorkerProcess(
                WorkerProcess.Program(
                    path: path, arguments: [path, argument].map { Array($0.utf8) }, environment: ["SWIFT_BACKTRACE=enable=no"] + zone))
        } catch {
            throw LuaError(.usage, "the process of the scripts cannot be started: \(error)")
        }
    }

    /// This program, or `perilune-worker` in the same folder.
    private static func program() throws -> String {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        if isOwnProgram.load(ordering: .acquiring) { return own }
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
