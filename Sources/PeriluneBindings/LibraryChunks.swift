internal import CPeriluneRows
internal import PeriluneLua
internal import Synchronization

/// The modules of the library as functions. From the second state on that asks for a module, it is loaded as bytecode, which takes
/// a third of the time; programs with one state compile each once and keep nothing.
enum LibraryChunks {
    private enum Entry {
        case compiledOnce
        case kept(LuaCompiledChunk)
    }

    /// Whether what is kept is without lines and names of variables. Debug builds keep them for those who work on the library.
    #if DEBUG
        private static let isStripped = false
    #else
        private static let isStripped = true
    #endif

    private static let entries = Mutex<[String: Entry]>([:])

    /// The chunk of a module; `nil` if no library has one of that name.
    ///
    /// - Parameter environment: The globals that the chunk sees; `nil` means those of the state.
    static func function(
        of name: String, in libraries: [LibraryModules], environment: LuaTable?, state: LuaState
    ) throws -> LuaFunction? {
        let entry = entries.withLock { $0[name] }
        if case .kept(let chunk)? = entry { return try state.load(chunk, environment: environment) }
        for library in libraries {
            guard let source = library.source(of: name) else { continue }
            let function = try state.loadLibrary(source, named: library.file(of: name), environment: environment)
            try keep(function, of: name, file: library.file(of: name), isKnown: entry != nil)
            return function
        }
        return nil
    }

    private static func keep(_ function: LuaFunction, of name: String, file: String, isKnown: Bool) throws {
        if !isKnown {
            entries.withLock { $0[name] = .compiledOnce }
        } else if let chunk = try function.compiled(named: PLUA_LIBRARY_CHUNK + file, isLibrary: isStripped) {
            entries.withLock { $0[name] = .kept(chunk) }
        }
    }
}
