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
    /// The interval between checks for writes by other processes; `nil` turns these checks off.
    let poll: Duration?
    let colors: Colors

    /// Runs the automations until the host is cancelled, and reloads the file when it changes.
    ///
    /// - Throws: `LuaError` if the file cannot be loaded, or if the database file is removed or replaced.
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

    /// Returns the error for a removed or replaced database file. SQLite itself would not notice: it keeps using the unlinked file.
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
