@_exported public import struct PeriluneIsolation.IsolationLayer

/// Where the scripts of a host run; see <doc:ProcessIsolation>.
public struct ScriptIsolation: Sendable {
    /// The settings of a separate process.
    package struct Process: Sendable {
        package var requiredLayers: Set<IsolationLayer>
        package var grace: Duration
        package var program: String?
    }

    package let process: Process?

    /// In the process of the host.
    public static let none = ScriptIsolation(process: nil)

    /// In a separate process, which has the Lua state and opens the database: scripts cannot end, block or harm the host's process.
    ///
    /// - Parameters:
    ///   - layers: Layers without which a host cannot be made. All layers that the system supports are used in any case.
    ///   - grace: How long a run may continue after its time limit or its cancellation, before its process is killed.
    ///   - program: The program that runs scripts; `nil`: this one, if it calls ``ScriptWorker/runIfStarted()``, else `perilune-worker` in
    ///     the folder of this one.
    public static func process(
        require layers: Set<IsolationLayer> = [], grace: Duration = .milliseconds(300), program: String? = nil
    ) -> ScriptIsolation {
        ScriptIsolation(process: Process(requiredLayers: layers, grace: grace, program: program))
    }
}
