internal import Perilune

/// Watchers for commands, which report errors as ``CommandFailure`` values.
extension Inotify {
    /// Creates a file watcher.
    ///
    /// - Throws: ``CommandFailure`` if the system cannot create another file watcher.
    static func forCommand() throws -> Inotify {
        do {
            return try Inotify()
        } catch let error as FileWatchError {
            throw CommandFailure(ErrorReport("cannot watch files: \(error.reason)", kind: "io"))
        }
    }
}
