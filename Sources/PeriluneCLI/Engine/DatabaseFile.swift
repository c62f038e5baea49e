internal import Glibc

/// The file of a database.
enum DatabaseFile {
    /// Whether there is a file at a path that is no folder.
    static func isFile(_ path: String) -> Bool {
        var information = stat()
        return stat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFREG
    }

    /// Refuses a path at which there is no file.
    static func requireExisting(_ path: String) throws {
        var information = stat()
        guard stat(path, &information) != 0 else { return }
        let reason = String(cString: strerror(errno))
        throw CommandFailure(ErrorReport("cannot open the database \(path): \(reason)", kind: "cantopen"))
    }
}
