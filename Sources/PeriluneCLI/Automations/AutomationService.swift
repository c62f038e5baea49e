internal import Foundation
internal import Glibc
internal import Perilune
internal import PeriluneLua
internal import Synchronization

/// Keeps the automations of a file running, and loads the file again when it changes.
struct AutomationService: Sendable {
    let file: String
    /// The file of the database; `nil`: it is in memory.
    let database: String?
    let host: ScriptHost
    /// How often to look whether another process has written; `nil`: not at all.
    let poll: Duration?
    let colors: Colors

    /// Runs until the host is cancelled.
    ///
    /// - Throws: `LuaError` if the file fails, or the database is there no more.
    func run() async throws {
        let isReplaced = Atomic(false)
        let place = database.flatMap(FilePlace.init)
        var files = LoadedFiles(file)
        try await host.waitForEvents()
        CommandOutput.note(Self.loaded(try await host.loadAutomations(file: file, poll: poll)), colors)
        files.add(try await host.automationModulePaths())
        let watching = Task { [files] in
            var files = files
            while true {
                try await Task.sleep(for: .milliseconds(300))
                if let place, let database, FilePlace(database) != place {
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

    /// SQLite would not notice this: it keeps using the previous file, which has no name any more.
    private static func replaced(_ database: String) -> LuaError {
        var error = LuaError(.host, "\(database) was removed or replaced while its automations ran; start them again")
        error.fields["kind"] = .string("io")
        return error
    }

    /// Loads the file; if that fails the previous automations keep running.
    private func reload(since path: String) async {
        do {
            CommandOutput.note("\(path) has changed: " + Self.loaded(try await host.loadAutomations(file: file, poll: poll)), colors)
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

/// Identifies the file at a path, as distinct from a file that replaces it.
private struct FilePlace: Equatable {
    let device: dev_t
    let number: ino_t

    init?(_ path: String) {
        var information = stat()
        guard stat(path, &information) == 0 else { return nil }
        (device, number) = (information.st_dev, information.st_ino)
    }
}
