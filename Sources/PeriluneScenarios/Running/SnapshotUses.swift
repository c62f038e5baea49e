internal import Foundation
internal import Synchronization

/// A registry of the snapshots that scenarios compare.
protocol SnapshotRegistry: Sendable {
    /// Records that a scenario compares a value with a snapshot.
    ///
    /// - Returns: Another scenario of the run that has compared a different value with the snapshot, if any.
    func use(_ path: String, of scenario: String, as text: [UInt8]) -> String?
}

/// The snapshots that the scenarios of a run have compared.
final class SnapshotUses: SnapshotRegistry {
    private struct Use {
        let scenario: String
        let text: [UInt8]
    }

    private let uses = Mutex<[String: Use]>([:])

    func use(_ path: String, of scenario: String, as text: [UInt8]) -> String? {
        uses.withLock { uses in
            if let use = uses[path], use.scenario != scenario, use.text != text { return use.scenario }
            uses[path] = Use(scenario: scenario, text: text)
            return nil
        }
    }

    var paths: Set<String> { uses.withLock { Set($0.keys) } }
}

/// The files that store snapshots.
package enum SnapshotFiles {
    static let folderName = "__snapshots__"

    /// Returns the folder with the snapshots of a scenario file.
    package static func folder(of scenarioFile: String) -> String {
        let parent = ScenarioLocation.path(folderName, in: ScenarioLocation.folder(of: scenarioFile))
        let name = scenarioFile.split(separator: "/").last.map(String.init) ?? scenarioFile
        return parent + "/" + (name.hasSuffix(ScenarioFiles.suffix) ? String(name.dropLast(ScenarioFiles.suffix.count)) : name)
    }

    /// Returns the snapshots in a folder, including new ones that await review.
    private static func snapshots(in folder: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".snap") || $0.hasSuffix(".snap.new") }.sorted().map { folder + "/" + $0 }
    }

    /// Returns the obsolete snapshots: unused snapshots of files whose scenarios have all passed, and snapshots of deleted files.
    ///
    /// - Parameters:
    ///   - used: The paths of the compared snapshots.
    ///   - passed: The files whose scenarios have all passed.
    ///   - roots: The folders whose scenarios have all run.
    static func obsolete(used: Set<String>, passed: [String], under roots: [String]) -> [String] {
        let ofFiles = passed.flatMap { snapshots(in: folder(of: $0)) }
            .filter { !used.contains($0.hasSuffix(".new") ? String($0.dropLast(4)) : $0) }
        return Set(ofFiles + roots.flatMap(orphans)).sorted()
    }

    /// Returns the snapshots under a folder that belong to no scenario file.
    private static func orphans(under root: String) -> [String] {
        let names = FileManager.default.enumerator(atPath: root.isEmpty ? "." : root)?.compactMap { $0 as? String } ?? []
        return names.filter { $0.hasSuffix(".snap") || $0.hasSuffix(".snap.new") }.compactMap { name in
            let parts = name.split(separator: "/").map(String.init)
            guard let index = parts.lastIndex(of: folderName) else { return nil }
            let folder = parts[..<index].joined(separator: "/")
            if index == parts.count - 3 {
                let file = ScenarioLocation.path(parts[index + 1] + ScenarioFiles.suffix, in: folder)
                if FileManager.default.fileExists(atPath: ScenarioLocation.path(file, in: root)) { return nil }
            }
            return ScenarioLocation.path(name, in: root)
        }
    }

    /// Removes snapshots, and folders that become empty. Returns the snapshots that could not be removed.
    static func remove(_ paths: [String]) -> [String] {
        let left = paths.filter { (try? FileManager.default.removeItem(atPath: $0)) == nil }
        for folder in Set(paths.map(ScenarioLocation.folder(of:)))
        where (try? FileManager.default.contentsOfDirectory(atPath: folder))?.isEmpty == true {
            try? FileManager.default.removeItem(atPath: folder)
        }
        return left
    }
}
