internal import PeriluneLua

/// A loader for the chunks of library modules.
enum LibraryChunks {
    /// Returns the chunk of a module, or `nil` if no library has a module with this name.
    ///
    /// Uses bytecode from the build if possible, because it loads six times as fast as source text.
    ///
    /// - Parameter environment: The globals of the chunk; `nil` means the state's globals.
    static func function(
        of name: String, in libraries: [LibraryModules], environment: LuaTable?, state: LuaState
    ) throws -> LuaFunction? {
        for library in libraries {
            if let bytecode = library.bytecode(of: name) {
                return try state.loadLibrary(bytecode: bytecode, named: library.file(of: name), environment: environment)
            }
            if let source = library.source(of: name) {
                return try state.loadLibrary(source, named: library.file(of: name), environment: environment)
            }
        }
        return nil
    }
}
