internal import PeriluneDependencies
internal import PeriluneLibrary
internal import PeriluneLua
package import PeriluneModules

#if DEBUG
internal import Foundation
#endif

/// A set of Lua modules embedded in the binary, from one folder in `lib`. Their names begin with the folder's name.
package struct LibraryModules: Sendable {
    /// The first component of the module names.
    package let folder: String
    private let embedded: EmbeddedModules

    package init(folder: String, _ embedded: EmbeddedModules) {
        self.folder = folder
        self.embedded = embedded
    }

    /// The standard modules, which every state has.
    package static let perilune = LibraryModules(folder: "perilune", embeddedPeriluneModules)

    /// Returns the source text of a module such as `folder.records.writing`, or `nil` if the module does not exist.
    ///
    /// In debug builds, the environment variable `PERILUNE_LIBRARY` may contain the path of the folder `lib/perilune`. Modules are
    /// then read from this folder, and modules of other sets from the folders next to it. Changes to them take effect without a
    /// build.
    package func source(of name: String) -> String? {
        guard hasName(name) else { return nil }
        #if DEBUG
        if let perilune = Self.folderOfSources {
            return try? String(contentsOfFile: "\(perilune)/../\(file(of: name))", encoding: .utf8)
        }
        #endif
        return embedded.module(name)?.source.description
    }

    /// Returns the bytecode of a module, or `nil` if the module has no bytecode or it was compiled by another Lua release.
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

    /// Returns the path of a module relative to `lib`, for error messages.
    func file(of name: String) -> String {
        (name == folder ? name + "/init" : name.replacing(".", with: "/")) + ".lua"
    }
}
