internal import CPeriluneShim
internal import Synchronization

/// A chunk of the host's library that several states load. The first state compiles the source text, and the others load the
/// bytecode.
package final class LuaLibraryText: Sendable {
    private let name, source: String
    private let compiled = Mutex<LuaCompiledChunk?>(nil)

    /// - Parameter name: The name of the chunk in tracebacks.
    package init(named name: String, _ source: String) {
        (self.name, self.source) = (name, source)
    }

    /// Returns the chunk as a function with the state's globals.
    package func function(in state: LuaState) throws(LuaError) -> LuaFunction {
        if let chunk = compiled.withLock({ $0 }) { return try state.load(chunk) }
        let function = try state.loadLibrary(source, named: name)
        let chunk = try function.compiled(named: PLUA_LIBRARY_CHUNK + name)
        compiled.withLock { $0 = chunk }
        return function
    }
}
