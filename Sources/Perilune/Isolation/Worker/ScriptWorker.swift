internal import PeriluneIsolation
internal import Synchronization

/// The worker process that runs the scripts of an isolated host.
///
/// A program that calls ``runIfStarted()`` at the beginning of `main` is started again as the worker of each of its isolated hosts.
/// Otherwise, the worker is `perilune-worker`, which the package builds, in the folder of the program.
public enum ScriptWorker {
    /// Runs scripts and never returns if this process was started as a worker. Otherwise, records that this program can be a worker.
    ///
    /// Call it before any thread starts: Linux restricts file access only for the calling thread and the threads that it starts later.
    /// After that, the layer `IsolationLayer.landlock` is missing.
    public static func runIfStarted() {
        guard CommandLine.arguments.dropFirst().first == WorkerProgram.argument, WorkerEntry.isConnected else {
            return WorkerProgram.isOwn.store(true, ordering: .releasing)
        }
        WorkerServer.run()
    }
}
