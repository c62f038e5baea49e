internal import Foundation
internal import Perilune
internal import PeriluneLua

/// Keeps the automations of a file running, and loads the file again when it changes.
struct AutomationService: Sendable {
    let file: String
    let host: ScriptHost
    /// How often to look whether another process has written; `nil`: not at all.
    let poll: Duration?
    let colours: Colours

    /// Runs until the host is cancelled.
    func run() async throws {
        var versions = [file: FileVersion(file)]
        try await host.waitForEvents()
        CommandOutput.note(Self.loaded(try await host.loadAutomations(file: file, poll: poll)), colours)
        try await addModules(to: &versions)
        let watching = Task { [versions] in
            var versions = versions
            while true {
                try await Task.sleep(for: .milliseconds(300))
                let changed = versions.filter { path, version in FileVersion(path) != version }.keys
                // A file that is away for a moment is being written.
                guard !changed.isEmpty, FileVersion(file) != nil else { continue }
                for path in changed { versions[path] = FileVersion(path) }
                await reload(since: changed.sorted()[0])
                try await addModules(to: &versions)
            }
        }
        defer { watching.cancel() }
        try await host.waitUntilIdle()
    }

    private func addModules(to versions: inout [String: FileVersion?]) async throws {
        for path in try await host.automationModulePaths() where versions[path] == nil {
            versions.updateValue(FileVersion(path), forKey: path)
        }
    }

    /// Loads the file; if that fails the former automations go on.
    private func reload(since path: String) async {
        do {
            CommandOutput.note("\(path) has changed: " + Self.loaded(try await host.loadAutomations(file: file, poll: poll)), colours)
        } catch {
            var report = (error as? LuaError).map { ErrorReport($0) } ?? ErrorReport("\(error)", kind: "io")
            report.help = "the former automations go on"
            StandardStreams.writeError(report.text(colours: colours))
        }
    }

    private static func loaded(_ count: Int) -> String {
        count == 1 ? "1 automation is live" : "\(count) automations are live"
    }
}

/// Tells a file from what it was before.
private struct FileVersion: Equatable {
    let size: UInt64
    let modified: Date

    init?(_ path: String) {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let size = attributes[.size] as? UInt64, let modified = attributes[.modificationDate] as? Date
        else { return nil }
        self.size = size
        self.modified = modified
    }
}
