public import Foundation
internal import PeriluneLua

/// A place in which `require` looks for Lua modules.
public struct ModuleSource: Sendable {
    let find: @Sendable (_ name: String) throws -> (text: [UInt8], file: String)?
    /// The folder that is searched; `nil` for other sources.
    private let folder: String?

    init(folder: String? = nil, _ find: @escaping @Sendable (String) throws -> (text: [UInt8], file: String)?) {
        (self.folder, self.find) = (folder, find)
    }

    /// Throws unless the folder exists.
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

    /// Returns the text of a module and its file; `nil` for an unknown name.
    package func module(named name: String) throws -> (text: [UInt8], file: String)? {
        try find(name)
    }

    /// The files of a folder: `shop.orders` is `shop/orders.lua` or `shop/orders/init.lua` in the folder, and never a file outside of it:
    /// links that lead out of the folder are not followed.
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

    /// The files of a bundle, used like a folder.
    ///
    /// - Parameter folder: A folder among its resources.
    /// - Parameter bundle: A bundle with resources.
    public static func bundle(_ bundle: Bundle, folder: String? = nil) -> ModuleSource {
        let resources = bundle.resourceURL ?? bundle.bundleURL
        return .folder(folder.map { resources.appending(path: $0).path } ?? resources.path)
    }

    /// Modules whose text a closure returns.
    ///
    /// - Parameter source: Returns the source text of a module; `nil` for an unknown name.
    public static func lookup(_ source: @escaping @Sendable (_ name: String) throws -> String?) -> ModuleSource {
        ModuleSource { name in try source(name).map { (Array($0.utf8), name) } }
    }
}

extension LuaState {
    /// Makes `require` look there.
    package func add(_ source: ModuleSource) throws {
        try addModuleResolver { name in
            try source.find(name).map { .source(LuaString($0.text), name: $0.file) }
        }
    }
}
