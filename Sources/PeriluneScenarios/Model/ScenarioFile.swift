internal import Foundation
internal import Perilune

/// A scenario file, and the `support.lua` files that are loaded before it.
struct ScenarioFile: Sendable {
    struct Source: Sendable {
        /// The path for display.
        let path: String
        let text: [UInt8]
    }

    let source: Source
    /// The support files, the outermost first.
    let supports: [Source]
    let place: ScenarioLocation
    var path: String { source.path }
    /// The number of lines, including the empty line after a final line break, because an editor's cursor may be on it.
    var lineCount: Int { source.text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).count }

    /// Reads a scenario file and its support files.
    init(_ place: ScenarioLocation) throws {
        self.place = place
        source = Source(path: place.path, text: try ScriptHost.read(place.path))
        supports = try place.folders.map { ScenarioLocation.path("support.lua", in: $0) }
            .filter { FileManager.default.fileExists(atPath: $0) }.map { Source(path: $0, text: try ScriptHost.read($0)) }
    }

    /// Restores the full file name in a failure, because Lua may show only the end of the name, after three dots.
    func restoreName(in failure: inout ScenarioFailure) {
        guard let name = failure.file, name.hasPrefix("...") else { return }
        let end = name.dropFirst(3)
        failure.file = ([source] + supports).map(\.path).first { $0.hasSuffix(end) } ?? name
    }
}

/// The search for scenario files.
package enum ScenarioFiles {
    static let suffix = "_scenario.lua"

    /// Returns the scenario files at a path, in the order of their names.
    ///
    /// - Throws: ``ScenarioUsageError`` if nothing exists at the path.
    static func find(_ path: String) throws -> [ScenarioLocation] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            let isNamed = path.contains("::")
            let use = isNamed ? "; use FILE:LINE for one scenario, or FILE --filter NAME" : useOfCurrentFolder()
            throw ScenarioUsageError("no file or folder `\(path)` exists\(use)")
        }
        let parent = ScenarioLocation.folder(of: path)
        guard isFolder.boolValue else { return [ScenarioLocation(path: path, under: parent)] }
        guard let names = FileManager.default.enumerator(atPath: path) else {
            throw ScenarioUsageError("cannot read the folder `\(path)`")
        }
        let folder = path == "." ? "" : path
        let files = names.compactMap { $0 as? String }.filter { $0.hasSuffix(suffix) }.sorted()
        return files.map { ScenarioLocation(path: ScenarioLocation.path($0, in: folder), under: folder) }
    }

    /// Returns the end of a message about a missing path, if the current folder has scenario files of its own.
    private static func useOfCurrentFolder() -> String {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: ".")) ?? []
        return names.contains { $0.hasSuffix(suffix) } ? "; `perilune test .` runs the scenario files of the current folder" : ""
    }

    /// Returns the Lua files below a folder that are neither scenario files nor support files, sorted by path.
    package static func othersInFolder(_ path: String) -> [String] {
        let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return names.filter { $0.hasSuffix(".lua") && !$0.hasSuffix(suffix) && !$0.hasSuffix("support.lua") }.sorted()
    }
}

/// An error in the options of a run.
public struct ScenarioUsageError: Error, CustomStringConvertible {
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
