internal import PeriluneDependencies
internal import PeriluneLibrary
internal import PeriluneLua
package import PeriluneModules

#if DEBUG
    internal import Foundation
#endif

/// Lua modules that are shipped inside the binary: those whose names begin with the name of one folder of `lib`.
package struct LibraryModules: Sendable {
    /// The first part of the names of the modules.
    package let folder: String
    private let embedded: EmbeddedModules

    package init(folder: String, _ embedded: EmbeddedModules) {
        self.folder = folder
        self.embedded = embedded
    }

    /// The modules of every state.
    package static let perilune = LibraryModules(folder: "perilune", embeddedPeriluneModules)

    /// The source text of a module, `folder.records.writing`, or `nil` if no module has that name.
    ///
    /// In debug builds the environment variable `PERILUNE_LIBRARY` may name the folder `lib/perilune`. The modules are then read
    /// from it, and those of other folders from beside it, so that a change of them needs no build.
    package func source(of name: String) -> String? {
        guard hasName(name) else { return nil }
        #if DEBUG
            if let perilune = Self.folderOfSources {
                return try? String(contentsOfFile: "\(perilune)/../\(file(of: name))", encoding: .utf8)
            }
        #endif
        return embedded.module(name)?.source.description
    }

    /// The bytecode of a module; `nil` if it has none, or if another release of Lua than the loaded one has made it.
    package func bytecode(of name: String) -> [UInt8]? {
        #if DEBUG
            if Self.folderOfSources != nil { return nil }
        #endif
        guard hasName(name), LuaRelease.isLoaded(embedded.luaIdent) else { return nil }
        return embedded.module(name)?.bytecode
    }

    private func hasName(_ name: String) -> Bool {
        name == folder || name.hasPrefix(folder + ".")
    }

    #if DEBUG
        private static var folderOfSources: String? { EnvironmentVariables.ofProcess["PERILUNE_LIBRARY"] }
    #endif

    /// The path of a module in `lib`, by which errors call it.
    func file(of name: String) -> String {
        (name == folder ? name + "/init" : name.replacing(".", with: "/")) + ".lua"
    }
}
