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

    /// The chunk of a module; `nil` if there is none of that name.
    static func function(of name: String, in state: LuaState) throws -> LuaFunction? {
        let entry = entries.withLock { $0[name] }
        if case .kept(let chunk)? = entry { return try state.load(chunk) }
        guard let source = LibraryModules.source(of: name) else { return nil }
        let file = "perilune/\(name).lua"
        let function = try state.loadLibrary(source, named: file)
        if entry == nil {
            entries.withLock { $0[name] = .compiledOnce }
        } else if let chunk = try function.compiled(named: PERILUNE_LIBRARY_CHUNK + file) {
            entries.withLock { $0[name] = .kept(chunk) }
        }
        return function
    }
}
