internal import Foundation

/// The files that a service has loaded, and whether they have changed.
struct LoadedFiles {
    /// As they were loaded; `nil`: there was none.
    private var versions: [String: FileVersion?] = [:]
    /// As they were at the last look.
    private var lastLook: [String: FileVersion?] = [:]
    /// Without it there is nothing to load.
    private let main: String

    /// - Parameter main: The file that loads the others.
    init(_ main: String) {
        self.main = main
        add([main])
    }

    /// Adds files that are loaded now, or will be.
    mutating func add(_ paths: some Sequence<String>) {
        for path in paths where versions[path] == nil { versions.updateValue(FileVersion(path), forKey: path) }
    }

    /// Those that have changed, sorted; from now on they count as loaded.
    ///
    /// None while they are being written: the first file is away for a moment, or one has changed since the last look.
    mutating func look() -> [String] {
        let now = Dictionary(uniqueKeysWithValues: versions.keys.map { ($0, FileVersion($0)) })
        defer { lastLook = now }
        guard now == lastLook, now[main] != .some(nil) else { return [] }
        let changed = now.keys.filter { now[$0] != versions[$0] }.sorted()
        versions = now
        return changed
    }
}

/// Identifies the contents of a file at one time.
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
