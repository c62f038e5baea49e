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

    private static let entries = Mutex<[String: Entry]>([:])

    /// The chunk of a module; `nil` if none of the libraries has one of that name.
    static func function(of name: String, in libraries: [LibraryModules], state: LuaState) throws -> LuaFunction? {
        let entry = entries.withLock { $0[name] }
        if case .kept(let chunk)? = entry { return try state.load(chunk) }
        for library in libraries {
            guard let source = library.source(of: name) else { continue }
            return try function(source, name: name, file: library.file(of: name), isKnown: entry != nil, state: state)
        }
        return nil
    }

    private static func function(
        _ source: String, name: String, file: String, isKnown: Bool, state: LuaState
    ) throws -> LuaFunction {
        let function = try state.loadLibrary(source, named: file)
        if !isKnown {
            entries.withLock { $0[name] = .compiledOnce }
        } else if let chunk = try function.compiled(named: PLUA_LIBRARY_CHUNK + file) {
            entries.withLock { $0[name] = .kept(chunk) }
        }
        return function
    }
}
