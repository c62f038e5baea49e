internal import Foundation

/// The Lua files of an automation service, with their versions for detecting changes.
struct LoadedFiles {
    /// The version of each file when it was loaded; `nil` if the file did not exist.
    private var versions: [String: FileVersion?] = [:]
    /// The version of each file at the last check.
    private var lastLook: [String: FileVersion?] = [:]
    /// The main file, which loads the others.
    private let main: String

    /// - Parameter main: The file that loads the others.
    init(_ main: String) {
        self.main = main
        add([main])
    }

    /// Starts watching files for changes; files that are already watched keep their versions.
    mutating func add(_ paths: some Sequence<String>) {
        for path in paths where versions[path] == nil { versions.updateValue(FileVersion(path), forKey: path) }
    }

    /// Returns the files that changed since they were loaded, sorted by path, and records their new versions.
    ///
    /// Returns no files while an editor may still be writing: if the main file is missing, or if a file has changed since the last check.
    mutating func look() -> [String] {
        let now = Dictionary(uniqueKeysWithValues: versions.keys.map { ($0, FileVersion($0)) })
        defer { lastLook = now }
        guard now == lastLook, now[main] != .some(nil) else { return [] }
        let changed = now.keys.filter { now[$0] != versions[$0] }.sorted()
        versions = now
        return changed
    }
}

/// The size and modification date of a file, which identify a version of its contents.
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
