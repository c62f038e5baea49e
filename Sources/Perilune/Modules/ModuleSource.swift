public import Foundation
internal import PeriluneLua

/// A source of Lua modules for `require`, such as a folder, a bundle or a closure.
public struct ModuleSource: Sendable {
    let find: @Sendable (_ name: String) throws -> (text: [UInt8], file: String)?
    /// The folder that is searched; `nil` for other sources.
    private let folder: String?

    init(folder: String? = nil, _ find: @escaping @Sendable (String) throws -> (text: [UInt8], file: String)?) {
        (self.folder, self.find) = (folder, find)
    }

    /// Throws an error if the source is a folder that does not exist.
    func check() throws {
        var isFolder = ObjCBool(false)
        guard let folder, !(FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder) && isFolder.boolValue) else {
            return
        }
        throw LuaError(
            .usage,
            "moduleSources: the folder \(folder) does not exist; the current folder is \(FileManager.default.currentDirectoryPath)"
        )
    }

    /// Returns the source text of a module and its file name; `nil` for an unknown module.
    package func module(named name: String) throws -> (text: [UInt8], file: String)? {
        try find(name)
    }

    /// Returns a source that searches a folder: the module `shop.orders` is `shop/orders.lua` or `shop/orders/init.lua`. Symbolic links to
    /// files outside of the folder are ignored.
    public static func folder(_ path: String) -> ModuleSource {
        ModuleSource(folder: path) { name in
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            guard !parts.contains(where: { $0.isEmpty || $0.contains("/") || $0.contains("\0") }) else { return nil }
            let base = ([path] + parts.map(String.init)).joined(separator: "/")
            for file in ["\(base).lua", "\(base)/init.lua"] where ScriptFile.exists(file) && isInside(file, folder: path) {
                return (try ScriptFile.read(file), file)
            }
            return nil
        }
    }

    private static func isInside(_ file: String, folder: String) -> Bool {
        guard let file = ScriptFile.resolved(file), let folder = ScriptFile.resolved(folder) else { return false }
        return file.hasPrefix(folder == "/" ? "/" : folder + "/")
    }

    /// Returns a source that searches the resources of a bundle, like ``folder(_:)``.
    ///
    /// - Parameter folder: A subfolder of the resources; `nil` to search the resources folder.
    /// - Parameter bundle: The bundle.
    public static func bundle(_ bundle: Bundle, folder: String? = nil) -> ModuleSource {
        let resources = bundle.resourceURL ?? bundle.bundleURL
        return .folder(folder.map { resources.appending(path: $0).path } ?? resources.path)
    }

    /// Returns a source that loads modules with a closure.
    ///
    /// - Parameter source: A closure that returns the source text of a module; `nil` for an unknown name.
    public static func lookup(_ source: @escaping @Sendable (_ name: String) throws -> String?) -> ModuleSource {
        ModuleSource { name in try source(name).map { (Array($0.utf8), name) } }
    }
}

extension LuaState {
    /// Adds a source to the search of `require`.
    package func add(_ source: ModuleSource) throws {
        try addModuleResolver { name in
            try source.find(name).map { .source(LuaString($0.text), name: $0.file) }
        }
    }
}
