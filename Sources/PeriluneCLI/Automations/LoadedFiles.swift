internal import Foundation

/// The files that a service has loaded, with detection of changes.
struct LoadedFiles {
    /// The versions that were loaded; `nil` if the file did not exist.
    private var versions: [String: FileVersion?] = [:]
    /// The versions seen by the last check.
    private var lastLook: [String: FileVersion?] = [:]
    /// The file that loads the others; nothing can be loaded without it.
    private let main: String

    /// - Parameter main: The file that loads the others.
    init(_ main: String) {
        self.main = main
        add([main])
    }

    /// Adds files that are loaded now or will be.
    mutating func add(_ paths: some Sequence<String>) {
        for path in paths where versions[path] == nil { versions.updateValue(FileVersion(path), forKey: path) }
    }

    /// Returns the changed files, sorted, and treats them as loaded from now on.
    ///
    /// Returns none while files are still being written: the main file is briefly missing, or a file has changed since the last
    /// check.
    mutating func look() -> [String] {
        let now = Dictionary(uniqueKeysWithValues: versions.keys.map { ($0, FileVersion($0)) })
        defer { lastLook = now }
        guard now == lastLook, now[main] != .some(nil) else { return [] }
        let changed = now.keys.filter { now[$0] != versions[$0] }.sorted()
        versions = now
        return changed
    }
}

/// The identity of a file's contents at one time.
private struct FileVersion: Equatable {
    let size: UInt64
    let modified: Date

    init?(_ path: String) {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let size = attributes[.size] as? UInt64, let modified = attributes[.modificationDate] as? Date
        else { return nil }
        self.size = size
        self.modified = modified
    }
}
