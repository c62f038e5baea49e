internal import Foundation
internal import Perilune
internal import PeriluneCluster
internal import PeriluneLua
internal import PeriluneRecords
internal import Synchronization

/// A cluster lease that allows only one process at a time to run the automations of a file. The other processes wait until the holder exits
/// or is lost.
struct AutomationLease: Sendable {
    let file: String
    /// The URL of the database.
    let database: String
    let host: ScriptHost
    let colors: Colors

    /// Waits for the lease and runs a closure while this process holds it.
    ///
    /// - Throws: Any error of the closure, or `LuaError` of kind `already_running` if the lease was lost.
    func run(_ body: @Sendable () async throws -> Void) async throws {
        let lease = try ClusterLease(url: database, name: "automations " + URL(filePath: file).lastPathComponent)
        do {
            try await lease.wait {
                CommandOutput.note(
                    "another process runs the automations of \(file) in the cluster; waiting until it ends", colors)
            }
        } catch let failure as ClusterFailure {
            throw Self.error(failure.message, kind: failure.kind.rawValue)
        }
        let isLost = Atomic(false)
        let keeping = Task {
            await lease.keep()
            guard !Task.isCancelled else { return }
            isLost.store(true, ordering: .releasing)
            try? await host.stopAutomations()
            host.cancelRunOrNext()
        }
        defer {
            keeping.cancel()
            if !isLost.load(ordering: .acquiring) { lease.release() }
        }
        do {
            try await body()
        } catch {
            guard isLost.load(ordering: .acquiring) else { throw error }
        }
        if isLost.load(ordering: .acquiring) {
            throw Self.error(
                "the lease for the automations of \(file) could not be renewed in time; another process may run them",
                kind: "already_running")
        }
    }

    private static func error(_ message: String, kind: String) -> LuaError {
        var error = LuaError(.host, message)
        error.fields["kind"] = .string(kind)
        return error
    }
}
