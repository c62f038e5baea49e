internal import Foundation
internal import Perilune

/// A watcher for changes of Lua, SQL and SQLite files below the current folder. Ignores hidden folders, snapshots and installed packages.
final class FileWatcher {
    private let inotify: Inotify
    private var folders: [CInt: String] = [:]
    /// The maximum number of watched folders, which limits the time for adding them.
    private static let mostFolders = 5000
    private static let ignoredFolders: Set<String> = ["__snapshots__", "node_modules"]
    private static let suffixes = [".lua", ".sql", ".sqlite"]

    /// - Throws: ``CommandFailure`` if the system cannot create another file watcher.
    init() throws {
        inotify = try Inotify.forCommand()
        add(".")
    }

    private func add(_ folder: String) {
        guard folders.count < Self.mostFolders, let watch = inotify.add(folder) else { return }
        folders[watch] = folder
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        for name in names where !name.hasPrefix(".") && !Self.ignoredFolders.contains(name) {
            var isFolder: ObjCBool = false
            let path = "\(folder)/\(name)"
            if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue { add(path) }
        }
    }

    /// Waits for a change and then for a pause, because editors write several files at once.
    ///
    /// - Parameter isEnded: Called periodically; returns whether to stop waiting.
    /// - Returns: The changed files; empty if the wait was stopped.
    func wait(unless isEnded: () -> Bool) -> [String] {
        var changed: Set<String> = []
        while !isEnded() {
            let events = inotify.events(within: changed.isEmpty ? 200 : 100)
            if events.isEmpty, !changed.isEmpty { return changed.sorted() }
            for event in events { take(event, &changed) }
        }
        return []
    }

    private func take(_ event: Inotify.Event, _ changed: inout Set<String>) {
        guard let folder = folders[event.watch], !event.name.hasPrefix(".") else { return }
        if event.isFolder {
            if event.isNew || event.isMovedHere, !Self.ignoredFolders.contains(event.name) { add("\(folder)/\(event.name)") }
        } else if !event.isNew, Self.suffixes.contains(where: event.name.hasSuffix) {
            changed.insert(folder == "." ? event.name : "\(folder.dropFirst(2))/\(event.name)")
        }
    }
}
