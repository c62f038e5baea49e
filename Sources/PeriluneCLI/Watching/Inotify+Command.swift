internal import Perilune

/// Watchers for commands, which report errors as ``CommandFailure`` values.
extension Inotify {
    /// Creates a watcher.
    ///
    /// - Throws: ``CommandFailure`` if the system has no more watchers.
    static func forCommand() throws -> Inotify {
        do {
            return try Inotify()
        } catch let error as FileWatchError {
            throw CommandFailure(ErrorReport("cannot watch files: \(error.reason)", kind: "io"))
        }
    }
}
