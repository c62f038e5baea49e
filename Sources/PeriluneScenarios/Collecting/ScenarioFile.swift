internal import Foundation
internal import Perilune

/// A file of scenarios with those of `support.lua` that are loaded before it.
struct ScenarioFile: Sendable {
    struct Source: Sendable {
        /// As it is shown.
        let path: String
        let text: [UInt8]
    }

    let source: Source
    /// The outermost first.
    let supports: [Source]
    /// The folder under which all scenarios are.
    let root: String
    var path: String { source.path }

    /// The folder that the file is in.
    var folder: String { (path as NSString).deletingLastPathComponent }

    /// Reads a file and what belongs to it.
    init(path: String, root: String) throws {
        source = Source(path: path, text: try ScriptHost.read(path))
        self.root = root
        supports = try Self.supportFiles(of: path, root: root).map { Source(path: $0, text: try ScriptHost.read($0)) }
    }

    /// Gives a failure the full name of its file, of which Lua may show only the end, after three dots.
    func restoreName(in failure: inout ScenarioFailure) {
        guard let name = failure.file, name.hasPrefix("...") else { return }
        let end = name.dropFirst(3)
        failure.file = ([source] + supports).map(\.path).first { $0.hasSuffix(end) } ?? name
    }

    private static func supportFiles(of path: String, root: String) -> [String] {
        var folder = (path as NSString).deletingLastPathComponent
        var files: [String] = []
        while true {
            files.append(folder.isEmpty ? "support.lua" : folder + "/support.lua")
            if folder == root || folder.isEmpty || folder == "/" || !(folder + "/").hasPrefix(root + "/") { break }
            folder = (folder as NSString).deletingLastPathComponent
        }
        return files.filter { FileManager.default.fileExists(atPath: $0) }.reversed()
    }
}

/// Finds files of scenarios.
package enum ScenarioFiles {
    static let suffix = "_scenario.lua"

    /// A file, and the folder under which it was found.
    struct Found: Equatable {
        let path: String
        let root: String
    }

    /// The files at a path, in the order of their names.
    ///
    /// - Throws: ``ScenarioUsageError`` if there is nothing at the path.
    static func find(_ path: String) throws -> [Found] {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            throw ScenarioUsageError("there is no file or folder `\(path)`")
        }
        guard isFolder.boolValue else { return [Found(path: path, root: root(of: path))] }
        guard let names = FileManager.default.enumerator(atPath: path) else {
            throw ScenarioUsageError("cannot read the folder `\(path)`")
        }
        let files = names.compactMap { $0 as? String }.filter { $0.hasSuffix(suffix) }.sorted()
        return files.map { Found(path: path == "." ? $0 : path + "/" + $0, root: root(of: path + "/.")) }
    }

    /// The Lua files under a folder that are none of scenarios by their names, in the order of these.
    package static func othersInFolder(_ path: String) -> [String] {
        let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return names.filter { $0.hasSuffix(".lua") && !$0.hasSuffix(suffix) && !$0.hasSuffix("support.lua") }.sorted()
    }

    /// The folder of scenarios that a file belongs to: the outermost called so, else its own.
    private static func root(of path: String) -> String {
        let folders = (path as NSString).deletingLastPathComponent.split(separator: "/", omittingEmptySubsequences: false)
        guard let last = folders.lastIndex(of: "scenarios") else { return folders.joined(separator: "/") }
        return folders[...last].joined(separator: "/")
    }
}

/// What whoever asked for the run has to put right.
public struct ScenarioUsageError: Error, CustomStringConvertible {
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
