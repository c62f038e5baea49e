internal import Foundation
internal import Glibc
internal import Perilune
internal import PeriluneBindings
internal import PeriluneLua
internal import Synchronization

/// A service that runs the automations of a file and reloads the file when it changes.
struct AutomationService: Sendable {
    let file: String
    /// The database file; `nil` for a database in memory.
    let database: String?
    let host: ScriptHost
    /// The interval for checking whether another process has written; `nil` to never check.
    let poll: Duration?
    let colors: Colors

    /// Runs until the host is cancelled.
    ///
    /// - Throws: `LuaError` if the file fails or the database no longer exists.
    func run() async throws {
        let isReplaced = Atomic(false)
        let place = database.flatMap(FileIdentity.init)
        var files = LoadedFiles(file)
        try await host.waitForEvents()
        CommandOutput.note(Self.loaded(try await host.loadAutomations(file: file, poll: poll)), colors)
        files.add(try await host.automationModulePaths())
        let watching = Task { [files] in
            var files = files
            while true {
                try await Task.sleep(for: .milliseconds(300))
                if let place, let database, FileIdentity(database) != place {
                    isReplaced.store(true, ordering: .releasing)
                    try? await host.stopAutomations()
                    return host.cancelRunOrNext()
                }
                guard let changed = files.look().first else { continue }
                await reload(since: changed)
                files.add(try await host.automationModulePaths())
            }
        }
        defer { watching.cancel() }
        do {
            try await host.waitUntilIdle()
        } catch {
            guard isReplaced.load(ordering: .acquiring) else { throw error }
        }
        if isReplaced.load(ordering: .acquiring), let database { throw Self.replaced(database) }
    }

    /// Returns the error for a replaced file. SQLite would not notice: it keeps using the old, unlinked file.
    private static func replaced(_ database: String) -> LuaError {
        var error = LuaError(.host, "\(database) was removed or replaced while its automations ran; start them again")
        error.fields["kind"] = .string("io")
        return error
    }

    /// Reloads the file; if that fails, the previous automations keep running.
    private func reload(since path: String) async {
        do {
            CommandOutput.note(
                "\(path) has changed: " + Self.loaded(try await host.loadAutomations(file: file, poll: poll)), colors)
        } catch {
            var report = (error as? LuaError).map { ErrorReport($0) } ?? ErrorReport("\(error)", kind: "io")
            report.help = "the previous automations keep running"
            StandardStreams.writeError(report.text(colors: colors))
        }
    }

    private static func loaded(_ count: Int) -> String {
        count == 1 ? "1 automation is live" : "\(count) automations are live"
    }
}
