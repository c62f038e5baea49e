internal import Foundation

/// The location of a scenario file: its displayed path, its identity, and its folders. The identity and the folders do not depend
/// on how the path was typed.
struct ScenarioLocation: Sendable, Equatable {
    /// The path as typed, relative to the current folder.
    let path: String
    /// The path that begins with the name of the scenario folder. It is part of the identifiers of scenarios, from which seeds are derived.
    let identity: String
    /// The folder that contains all scenarios, as displayed; empty for the current folder.
    let root: String
    /// The project folder, which contains the folder of scenarios, the migrations and the scripts.
    let project: String
    /// The folders from ``root`` to the folder of the file.
    let folders: [String]

    /// The folder of the file.
    var folder: String { folders.last! }

    /// - Parameter given: The folder to use as the root if no folder of the path is called `scenarios`.
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

    /// Returns the folder of a path, or the path itself if it ends with a slash; empty for the current folder.
    static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Returns the path of an entry in a folder. An empty folder means the current folder.
    static func path(_ name: String, in folder: String) -> String {
        folder.isEmpty ? name : folder == "/" ? "/" + name : folder + "/" + name
    }

    /// Returns a path without `.` and `..`, relative to the current folder if the path is inside it.
    static func pathFromCurrentFolder(_ path: String) -> String {
        let components = components(of: path)
        let current = Self.components(of: "")
        guard components.starts(with: current) else { return "/" + components.joined(separator: "/") }
        return components.dropFirst(current.count).joined(separator: "/")
    }

    /// Returns the components of the absolute path, without `.` and `..`.
    private static func components(of path: String) -> [String] {
        let absolute = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        return absolute.split(separator: "/").reduce(into: []) { names, name in
            if name == ".." { _ = names.popLast() } else if name != "." { names.append(String(name)) }
        }
    }

    /// Returns the ancestor of a folder by a number of levels, in the form in which the folder was typed.
    private static func ancestor(of folder: String, by levels: Int) -> String {
        var names = folder.split(separator: "/").map(String.init)
        for _ in 0..<levels {
            if let last = names.last, last != "..", last != "." { names.removeLast() } else { names.append("..") }
        }
        return (folder.hasPrefix("/") ? "/" : "") + names.joined(separator: "/")
    }
}
