internal import Foundation

/// The location of a scenario file: its displayed path, its identity, and its folders. The last two do not depend on how its path was
/// typed.
struct ScenarioLocation: Sendable, Equatable {
    /// The path as typed, relative to the current folder.
    let path: String
    /// The path from the folder of scenarios, including that folder's name. It identifies the file in identifiers, from which seeds are
    /// derived.
    let identity: String
    /// The folder under which all scenarios are, in the form that is shown; empty for the current folder.
    let root: String
    /// The folder of the project, in which migrations and scripts are: the one that the folder of scenarios is in.
    let project: String
    /// The folders from ``root`` to the one that the file is in.
    let folders: [String]

    /// The folder that the file is in.
    var folder: String { folders.last! }

    /// - Parameter given: The folder that counts as that of all scenarios if no folder of the path is called `scenarios`.
    init(path: String, under given: String) {
        self.path = path
        let folder = Self.folder(of: path)
        let components = Self.components(of: path)
        let folders = components.dropLast()
        if let index = folders.lastIndex(of: "scenarios") {
            identity = components[index...].joined(separator: "/")
            self.folders = (0..<folders.count - index).reversed().map { Self.ancestor(of: folder, by: $0) }
            root = self.folders[0]
            project = Self.ancestor(of: root, by: 1)
        } else {
            identity = Self.pathFromCurrentFolder(path)
            let depth = max(0, folders.count - Self.components(of: given).count)
            self.folders = (0...depth).reversed().map { Self.ancestor(of: folder, by: $0) }
            root = self.folders[0]
            project = root.isEmpty ? "" : Self.ancestor(of: root, by: 1)
        }
    }

    /// The folder that a path leads into, for one with a slash at its end that folder itself; empty for the current one.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The path of an entry in a folder; the empty folder is the current one.
    static func path(_ name: String, in folder: String) -> String {
        folder.isEmpty ? name : folder == "/" ? "/" + name : folder + "/" + name
    }

    /// A path without `.` and `..`, from the current folder if it leads into that.
    static func pathFromCurrentFolder(_ path: String) -> String {
        let components = components(of: path)
        let current = Self.components(of: "")
        guard components.starts(with: current) else { return "/" + components.joined(separator: "/") }
        return components.dropFirst(current.count).joined(separator: "/")
    }

    /// The names in an absolute path, without `.` and `..`.
    private static func components(of path: String) -> [String] {
        let absolute = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        return absolute.split(separator: "/").reduce(into: []) { names, name in
            if name == ".." { _ = names.popLast() } else if name != "." { names.append(String(name)) }
        }
    }

    /// The folder a number of levels above one, in the form in which that was typed.
    private static func ancestor(of folder: String, by levels: Int) -> String {
        var names = folder.split(separator: "/").map(String.init)
        for _ in 0..<levels {
            if let last = names.last, last != "..", last != "." { names.removeLast() } else { names.append("..") }
        }
        return (folder.hasPrefix("/") ? "/" : "") + names.joined(separator: "/")
    }
}
