internal import Foundation
internal import Synchronization

/// A folder for the temporary files of this process, which is removed when the process exits.
package enum TemporaryFolder {
    /// Returns a new, unused path in the folder.
    ///
    /// - Parameter name: The suffix of the file name.
    package static func path(_ name: String) throws -> String {
        let folder = try folder.get()
        return folder.appending(path: "\(count.next())-\(name)").path
    }

    /// Creates a subfolder and returns its path.
    package static func makeFolder(_ name: String) throws -> String {
        let path = try path(name)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        return path
    }

    private static let count = Counter()

    /// The folder, created on first use.
    private static let folder = Result<URL, any Error> {
        removeAbandoned()
        let name = "\(prefix)\(ProcessInfo.processInfo.processIdentifier)-\(UUID().uuidString)"
        let folder = URL(filePath: place).appending(path: name)
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        // Sets the permissions on creation, because isolated processes cannot change them later.
        guard mkdir(folder.path, 0o700) == 0 else {
            throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: folder.path])
        }
        atexit { TemporaryFolder.remove() }
        // This process holds the lock until it ends, even by SIGKILL. Another process may hold it briefly while it checks for abandoned
        // folders. On a file system without locks, other processes never remove the folder.
        let lock = open(folder.appending(path: lockName).path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        if lock >= 0 { while flock(lock, LOCK_EX) != 0, errno == EINTR {} }
        return folder
    }

    private static let prefix = "perilune-"
    private static let lockName = ".lock"

    /// The parent folder of the temporary folders of all processes.
    private static let place = EnvironmentVariables.ofProcess["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"

    /// Removes the folders that killed processes left behind, which may contain copies of databases.
    ///
    /// Runs at the start of every script, and therefore lists the names with `readdir`: Foundation needs a third of a millisecond for that.
    package static func removeAbandoned() {
        guard let entries = opendir(place) else { return }
        defer { closedir(entries) }
        while let entry = readdir(entries) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: name.pointee)) { name in
                    strncmp(name, prefix, prefix.utf8.count) == 0 ? String(cString: name) : nil
                }
            }
            if let name { removeIfAbandoned("\(place)/\(name)") }
        }
    }

    private static func removeIfAbandoned(_ folder: String) {
        let lock = open("\(folder)/\(lockName)", O_RDWR | O_CLOEXEC)
        guard lock >= 0 else { return }
        if flock(lock, LOCK_EX | LOCK_NB) == 0, isLongFree(lock) { try? FileManager.default.removeItem(atPath: folder) }
        close(lock)
    }

    /// Returns whether an unlocked lock file is older than two seconds, by which a starting process has locked it.
    private static func isLongFree(_ lock: CInt) -> Bool {
        var information = stat()
        return fstat(lock, &information) == 0 && time(nil) - information.st_mtim.tv_sec > 2
    }

    private static func remove() {
        guard case .success(let folder) = folder else { return }
        try? FileManager.default.removeItem(at: folder)
    }
}
