package import PeriluneLua

/// The search of `require` for module files.
///
/// As in the stand-alone interpreter, `package.path` contains templates of file paths, in which `?` stands for the module name with `/`
/// instead of dots. The templates of the module folder come first. If scripts have the complete library `package`, Lua's default templates
/// follow. Scripts may change `package.path`.
package enum FileModules {
    /// Installs the search in `require`. Without a folder, `require` finds no files, and its error explains why.
    ///
    /// - Parameter willLook: A closure that is called with each file path that the search tries, before the file is opened.
    package static func install(in state: LuaState, folder: String?, willLook: (@Sendable (String) -> Void)? = nil) throws {
        guard let folder else {
            if !state.libraries.contains(.package) { try state.addModuleResolver { name in throw NoModules(name: name) } }
            return
        }
        try state.addModuleResolver { [unowned state] name in try find(name, in: path(of: state), willLook) }
        guard case .table(let package) = try state.globals.get("package") else { return }
        let own = "\(folder)/?.lua;\(folder)/?/init.lua"
        guard case .string(let standard) = try package.get("path") else {
            return try package.set("path", .string(LuaString(own)))
        }
        try package.set("path", .string(LuaString("\(own);\(standard)")))
    }

    private static func path(of state: LuaState) throws -> String {
        guard case .table(let package) = try state.globals.get("package"), case .string(let path) = try package.get("path")
        else { return "" }
        return path.description
    }

    private static func find(_ name: String, in path: String, _ willLook: ((String) -> Void)?) throws -> LuaModule? {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard !parts.contains(where: { $0.isEmpty || $0.contains("/") || $0.contains("\0") }) else { return nil }
        for template in path.split(separator: ";") {
            let file = String(template).replacing("?", with: parts.joined(separator: "/"))
            willLook?(file)
            if ScriptFile.exists(file) {
                return .source(LuaString(try ScriptFile.read(file)), name: file)
            }
        }
        return nil
    }
}

/// The error of `require` in scripts that may not load modules from files.
private struct NoModules: LuaErrorDescribing {
    let name: String
    var luaKind: String { "sandbox" }
    var luaMessage: String { "require: module `\(name)` not found; this script may not load modules from files" }
}
