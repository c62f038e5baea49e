internal import CPeriluneIsolation
internal import Glibc

/// What a process keeps when it puts on its layers.
package struct IsolationRules: Sendable {
    /// Files, and folders with all below, that it may read and write.
    package var writable: [String] = []
    /// Files, and folders with all below, that it may read.
    package var readable: [String] = []
    /// How much more memory it may allocate; `nil`: no limit.
    package var memoryInBytes: UInt64?
    /// How many descriptors it may have.
    package var descriptorCount: UInt32 = 64

    package init() {}

    /// What libraries read at times of their own: time zones, the number of processors, random numbers, what the process is.
    private static let systemPaths = [
        "/usr/share/zoneinfo", "/etc/localtime", "/etc/timezone", "/proc/self", "/proc/stat", "/proc/meminfo", "/proc/cpuinfo",
        "/sys/devices/system/cpu", "/dev/urandom", "/dev/random", "/dev/zero",
    ]

    /// Takes files and networks from this thread, and all that it starts: to be called while it is the only one.
    ///
    /// - Returns: The layers that are on.
    package func enclose() -> Set<IsolationLayer> {
        var layers: Set<IsolationLayer> = []
        piso_prepare_sanitizer()
        // Landlock needs the first; the second would take /proc/self from us, whose rules are made before.
        guard piso_renounce_privileges() == 0 else { return layers }
        if piso_thread_count() == 1, restrictFiles() { layers.insert(.landlock) }
        if piso_forbid_dumps() == 0 { layers.insert(.privileges) }
        return layers
    }

    private func restrictFiles() -> Bool {
        var rules: [(path: String, rights: CInt)] = [("/dev/null", CInt(PISO_READ | PISO_WRITE))]
        // Dispatch looks at the state of its threads, /proc/NUMBER/stat. What tells more of other processes needs rights that Landlock takes.
        rules.append(("/proc", CInt(PISO_READ_FILES)))
        rules += (Self.systemPaths + readable).map { ($0, CInt(PISO_READ)) }
        rules += writable.map { ($0, CInt(PISO_READ | PISO_WRITE)) }
        let paths = rules.map { strdup($0.path) }
        defer { for path in paths { free(path) } }
        let list = zip(paths, rules).map { piso_path_rule(path: $0, rights: $1.rights) }
        return piso_restrict_files(list, list.count) == 0
    }

    /// Limits resources and takes system calls, from all threads: when all is open that the process needs.
    ///
    /// - Returns: The layers that are on.
    package func seal() -> Set<IsolationLayer> {
        var layers: Set<IsolationLayer> = []
        let isMemoryLimited = memoryInBytes.map { piso_limit_memory($0) == 0 } ?? true
        if piso_limit_resources(descriptorCount) == 0, isMemoryLimited { layers.insert(.limits) }
        if piso_restrict_calls() == 0 { layers.insert(.seccomp) }
        return layers
    }

    /// Adds the folder of a database to what is writable, and returns it: those who only read a database in WAL mode write to its index.
    package mutating func allowDatabase(at path: String) -> String {
        let folder = Self.folder(ofFile: path)
        writable.append(folder)
        return folder
    }

    /// The folder of a file, without links, in which SQLite makes its journals: that of what a link leads to.
    package static func folder(ofFile path: String) -> String {
        if let real = resolved(path), let slash = real.lastIndex(of: "/") { return slash == real.startIndex ? "/" : String(real[..<slash]) }
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
