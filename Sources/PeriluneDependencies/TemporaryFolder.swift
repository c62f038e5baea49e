internal import Foundation
internal import Synchronization

/// The folder of this process for files that are gone when it ends.
package enum TemporaryFolder {
    /// A path in the folder that nothing else has.
    ///
    /// - Parameter name: How the file name ends.
    package static func path(_ name: String) throws -> String {
        let folder = try folder.get()
        return folder.appending(path: "\(count.next())-\(name)").path
    }

    /// Makes a folder in it that nothing else has.
    package static func makeFolder(_ name: String) throws -> String {
        let path = try path(name)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        return path
    }

    private static let count = Counter()

    /// Made when it is first asked for, and removed when the process ends.
    private static let folder = Result<URL, any Error> {
        removeAbandoned()
        let name = "\(prefix)\(ProcessInfo.processInfo.processIdentifier)-\(UUID().uuidString)"
        let folder = URL(filePath: place).appending(path: name)
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        // With its permissions from the beginning: processes that are isolated cannot change them.
        guard mkdir(folder.path, 0o700) == 0 else {
            throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: folder.path])
        }
        atexit { TemporaryFolder.remove() }
        // Held until the process ends, however it does. A file system without locks keeps the folder all the same. Another process that looks
        // for abandoned folders may hold it for a moment.
        let lock = open(folder.appending(path: lockName).path, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        if lock >= 0 { while flock(lock, LOCK_EX) != 0, errno == EINTR {} }
        return folder
    }

    private static let prefix = "perilune-"
    private static let lockName = ".lock"

    /// Where the folders of all processes are.
    private static let place = EnvironmentVariables.ofProcess["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"

    /// Removes the folders of processes that were killed, which hold copies of databases perhaps. Every script begins with it: Foundation would take
    /// a third of a millisecond for the names alone.
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

    /// Whether a lock that is free has been so for longer than it takes a process to make the file and take it.
    private static func isLongFree(_ lock: CInt) -> Bool {
        var information = stat()
        return fstat(lock, &information) == 0 && time(nil) - information.st_mtim.tv_sec > 2
    }

    private static func remove() {
        guard case .success(let folder) = folder else { return }
        try? FileManager.default.removeItem(at: folder)
    }
}
