internal import Foundation
internal import Perilune

/// The files that a script has used, watched for changes. Some may not exist yet.
final class WatchedFiles {
    private let inotify: Inotify
    /// The watched names in each folder, with their paths.
    private var folders: [CInt: [String: String]] = [:]
    private var known: Set<String> = []

    /// - Throws: ``CommandFailure`` if the system cannot create another file watcher.
    init() throws {
        inotify = try Inotify.forCommand()
    }

    /// Adds a file by watching its folder, because editors replace files. Returns whether the file is new.
    @discardableResult
    func add(_ path: String) -> Bool {
        guard !known.contains(path) else { return false }
        let parts = PathParts(path)
        // If the folder is missing, a later call tries again.
        guard let watch = inotify.add(parts.folder.isEmpty ? "." : parts.folder) else { return false }
        known.insert(path)
        folders[watch, default: [:]][parts.name] = path
        return true
    }

    /// Waits at most the given time for changes, and returns the files that changed.
    func changes(within milliseconds: CInt) -> Set<String> {
        Set(inotify.events(within: milliseconds).compactMap { $0.isNew ? nil : folders[$0.watch]?[$0.name] })
    }
}
