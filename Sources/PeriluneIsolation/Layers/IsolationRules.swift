internal import CPeriluneIsolation
internal import Glibc

/// The access that a process keeps when its isolation layers become active.
package struct IsolationRules: Sendable {
    /// The files and folders, including their contents, that the process may read and write.
    package var writable: [String] = []
    /// The files and folders, including their contents, that the process may read.
    package var readable: [String] = []
    /// The memory that the process may allocate in addition to its current use; `nil` means no limit.
    package var memoryInBytes: UInt64?
    /// The maximum number of open file descriptors.
    package var descriptorCount: UInt32 = 64

    package init() {}

    /// The files that libraries may read at any time: time zones, processor counts, random numbers, information on the process itself.
    private static let systemPaths = [
        "/usr/share/zoneinfo", "/etc/localtime", "/etc/timezone", "/proc/self", "/proc/stat", "/proc/meminfo", "/proc/cpuinfo",
        "/sys/devices/system/cpu", "/dev/urandom", "/dev/random", "/dev/zero",
    ]

    /// Denies access to networks, and to files outside of these rules, for the calling thread and all threads that it starts later. Call it
    /// while the process has only one thread.
    ///
    /// - Returns: The layers that are active.
    package func enclose() -> Set<IsolationLayer> {
        var layers: Set<IsolationLayer> = []
        piso_prepare_sanitizer()
        // Landlock requires no_new_privs. The Landlock rules must come before dumps are forbidden, which makes /proc/self unreadable.
        guard piso_renounce_privileges() == 0 else { return layers }
        if piso_thread_count() == 1, restrictFiles() { layers.insert(.landlock) }
        if piso_forbid_dumps() == 0 { layers.insert(.privileges) }
        return layers
    }

    private func restrictFiles() -> Bool {
        var rules: [(path: String, rights: CInt)] = [("/dev/null", CInt(PISO_READ | PISO_WRITE))]
        // Dispatch reads thread states from /proc/NUMBER/stat. Landlock itself denies access to the more sensitive files in these folders.
        rules.append(("/proc", CInt(PISO_READ_FILES)))
        rules += (Self.systemPaths + readable).map { ($0, CInt(PISO_READ)) }
        rules += writable.map { ($0, CInt(PISO_READ | PISO_WRITE)) }
        let paths = rules.map { strdup($0.path) }
        defer { for path in paths { free(path) } }
        let list = zip(paths, rules).map { piso_path_rule(path: $0, rights: $1.rights) }
        return piso_restrict_files(list, list.count) == 0
    }

    /// Limits resources and filters system calls for all threads. Call it after the process has opened everything that it needs.
    ///
    /// - Returns: The layers that are active.
    package func seal() -> Set<IsolationLayer> {
        var layers: Set<IsolationLayer> = []
        let isMemoryLimited = memoryInBytes.map { piso_limit_memory($0) == 0 } ?? true
        if piso_limit_resources(descriptorCount) == 0, isMemoryLimited { layers.insert(.limits) }
        if piso_restrict_calls() == 0 { layers.insert(.seccomp) }
        return layers
    }

    /// Makes the folder of a database file writable, and returns it. Even a reader of a database in WAL mode writes to the shared-memory
    /// file.
    package mutating func allowDatabase(at path: String) -> String {
        let folder = Self.folder(ofFile: path)
        writable.append(folder)
        return folder
    }

    /// Returns the folder of a file, with all symbolic links resolved. SQLite creates its journal files in this folder.
    package static func folder(ofFile path: String) -> String {
        if let real = resolved(path), let slash = real.lastIndex(of: "/") {
            return slash == real.startIndex ? "/" : String(real[..<slash])
        }
        guard let slash = path.lastIndex(of: "/") else { return resolved(".") ?? "." }
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        return resolved(folder) ?? folder
    }

    private static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
