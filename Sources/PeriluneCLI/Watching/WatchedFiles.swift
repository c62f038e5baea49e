internal import Foundation
internal import Perilune

/// The files that a script has used, of which some may not exist yet.
final class WatchedFiles {
    private let inotify: Inotify
    /// The names that are watched in a folder, with the paths that stand for them.
    private var folders: [CInt: [String: String]] = [:]
    private var known: Set<String> = []

    /// - Throws: ``CommandFailure`` if the system has no more watches.
    init() throws {
        inotify = try Inotify()
    }

    /// Watches a file as well; its folder, that is, since editors put another file in its place. Returns whether it was not watched before.
    @discardableResult
    func add(_ path: String) -> Bool {
        guard !known.contains(path) else { return false }
        let parts = PathParts(path)
        // A folder that does not exist is looked for again the next time.
        guard let watch = inotify.add(parts.folder.isEmpty ? "." : parts.folder) else { return false }
        known.insert(path)
        folders[watch, default: [:]][parts.name] = path
        return true
    }

    /// The files that have changed within some time.
    func changes(within milliseconds: CInt) -> Set<String> {
        Set(inotify.events(within: milliseconds).compactMap { $0.isNew ? nil : folders[$0.watch]?[$0.name] })
    }
}
