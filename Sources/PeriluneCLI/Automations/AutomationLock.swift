internal import Glibc
internal import PeriluneLua

/// Sees to it that the automations of a file run in one process only: in two, each schedule and each change would set them off twice.
///
/// It is a lock on a byte of the database far behind its end, of a kind that does not meet those of SQLite. It is there until the
/// process ends, however that does.
enum AutomationLock {
    /// F_OFD_SETLK of Linux, which belongs to the open file and not to the process; Swift does not see the name.
    private static let setLock: CInt = 37

    /// Takes the lock.
    ///
    /// - Throws: `LuaError` of kind `already_running` if another process has it.
    static func take(of file: String, on database: String?) throws {
        // The file stays open: closing it would take the locks of SQLite from the process.
        guard let database, let place = realPath(file), case let descriptor = open(database, O_RDWR | O_CLOEXEC), descriptor >= 0
        else { return }
        var lock = flock()
        lock.l_type = Int16(F_WRLCK)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = (1 << 62) + off_t(number(of: place))
        lock.l_len = 1
        guard fcntl(descriptor, setLock, &lock) != 0, errno == EAGAIN || errno == EACCES else { return }
        var error = LuaError(.host, "the automations of \(file) are already running on \(database), in another process")
        error.fields["kind"] = .string("already_running")
        throw error
    }

    private static func realPath(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// The same in all processes (FNV-1a).
    private static func number(of text: String) -> UInt32 {
        text.utf8.reduce(0x811c_9dc5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    }
}
