@_exported public import struct PeriluneIsolation.IsolationLayer

/// Where the scripts of a host run; see <doc:ProcessIsolation>.
public struct Isolation: Sendable {
    /// What a process of its own is asked for.
    package struct Process: Sendable {
        package var requiredLayers: Set<IsolationLayer>
        package var grace: Duration
        package var program: String?
    }

    package let process: Process?

    /// In the process of the host.
    public static let none = Isolation(process: nil)

    /// In a process of its own, which has the Lua state and opens the database: nothing that a script does there ends, hangs or harms the
    /// process of the host.
    ///
    /// - Parameters:
    ///   - layers: Without these a host cannot be made. Those that the system has are put on in any case.
    ///   - grace: How long a run may go on after its limit of time, or after it was cancelled, before its process is killed.
    ///   - program: The program that runs scripts; `nil`: this one, if it calls ``ScriptWorker/runIfStarted()``, else `perilune-worker` in
    ///     the folder of this one.
    public static func process(
        require layers: Set<IsolationLayer> = [], grace: Duration = .milliseconds(300), program: String? = nil
    ) -> Isolation {
        Isolation(process: Process(requiredLayers: layers, grace: grace, program: program))
    }
}
