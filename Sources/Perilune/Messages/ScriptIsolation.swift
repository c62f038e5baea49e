@_exported public import struct PeriluneIsolation.IsolationLayer

/// The isolation of a host's scripts. See <doc:ProcessIsolation>.
public struct ScriptIsolation: Sendable {
    /// The settings of a separate process.
    package struct Process: Sendable {
        package var requiredLayers: Set<IsolationLayer>
        package var grace: Duration
        package var program: String?
    }

    package let process: Process?

    /// No isolation: scripts run in the process of the host.
    public static let none = ScriptIsolation(process: nil)

    /// Returns the isolation of scripts in a separate process, which contains the Lua state and opens the database. Scripts cannot end,
    /// block or harm the host's process.
    ///
    /// - Parameters:
    ///   - layers: The required layers. Creating a host fails if the system does not support all of them. All supported layers are always
    ///     active.
    ///   - grace: The time for which a run may continue after its time limit or its cancellation. Then its process is killed.
    ///   - program: The path of the program that runs scripts. By default, the current program if it calls ``ScriptWorker/runIfStarted()``,
    ///     or else `perilune-worker` in the folder of the current program.
    public static func process(
        require layers: Set<IsolationLayer> = [], grace: Duration = .milliseconds(300), program: String? = nil
    ) -> ScriptIsolation {
        ScriptIsolation(process: Process(requiredLayers: layers, grace: grace, program: program))
    }
}
