internal import PeriluneIsolation
internal import Synchronization

/// The worker process that runs the scripts of an isolated host.
///
/// If a program calls ``runIfStarted()`` at the start of `main`, each isolated host starts the same program again as its worker. Otherwise,
/// the worker is `perilune-worker`, a product of this package, in the program's folder.
public enum ScriptWorker {
    /// Runs scripts and never returns if this process was started as a worker. Otherwise, records that hosts can start this program as
    /// their worker.
    ///
    /// Call this method before any other thread starts, because Linux restricts file access only for the calling thread and for threads
    /// that it starts later. If other threads exist, the layer `IsolationLayer.landlock` is missing.
    public static func runIfStarted() {
        guard CommandLine.arguments.dropFirst().first == WorkerProgram.argument, WorkerEntry.isConnected else {
            return WorkerProgram.isOwn.store(true, ordering: .releasing)
        }
        WorkerServer.run()
    }
}
