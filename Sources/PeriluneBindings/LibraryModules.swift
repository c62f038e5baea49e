internal import CPeriluneLibrary
internal import PeriluneDependencies

#if DEBUG
    internal import Foundation
#endif

/// Lua modules that are shipped inside the binary: those whose names begin with the name of one folder of `lib`.
package struct LibraryModules: Sendable {
    /// The first part of the names of the modules.
    package let folder: String
    private let embedded: @Sendable (_ name: String) -> UnsafePointer<CChar>?

    /// - Parameter embedded: The source text of the module of a name, which lasts as long as the program; `nil` if there is none.
    package init(folder: String, embedded: @escaping @Sendable (_ name: String) -> UnsafePointer<CChar>?) {
        self.folder = folder
        self.embedded = embedded
    }

    /// The modules of every state.
    static let perilune = LibraryModules(folder: "perilune") { perilune_library_source($0) }

    /// The source text of a module, `folder.records.writing`, or `nil` if no module has that name.
    ///
    /// In debug builds the environment variable `PERILUNE_LIBRARY` may name the folder `lib/perilune`. The modules are then read
    /// from it, and those of other folders from beside it, so that a change of them needs no build.
    package func source(of name: String) -> String? {
        guard name == folder || name.hasPrefix(folder + ".") else { return nil }
        #if DEBUG
            if let perilune = EnvironmentVariables.ofProcess["PERILUNE_LIBRARY"] {
                return try? String(contentsOfFile: "\(perilune)/../\(file(of: name))", encoding: .utf8)
            }
        #endif
        return embedded(name).map { String(cString: $0) }
    }

    /// The path of a module in `lib`, by which errors call it.
    func file(of name: String) -> String {
        (name == folder ? name + "/init" : name.replacing(".", with: "/")) + ".lua"
    }
}
