internal import CPeriluneLibrary

#if DEBUG
    internal import Foundation
#endif

/// The Lua modules that are shipped inside the binary.
package enum LibraryModules {
    /// The source text of a module, or `nil` if there is none of that name.
    ///
    /// In debug builds the environment variable `PERILUNE_LIBRARY` may name the folder that the modules are read from instead,
    /// so that whoever works on them need not build.
    package static func source(of name: String) -> String? {
        #if DEBUG
            if let folder = ProcessInfo.processInfo.environment["PERILUNE_LIBRARY"] {
                return try? String(contentsOfFile: "\(folder)/\(name).lua", encoding: .utf8)
            }
        #endif
        return perilune_module_source(name).map { String(cString: $0) }
    }
}
