internal import CPeriluneShim

/// A chunk as bytecode, made by this process: other states load it faster than its text.
package struct LuaCompiledChunk: Sendable {
    /// What errors and tracebacks call the chunk, with Lua's mark for its kind before it.
    let name: String
    package let bytes: [UInt8]
}

extension LuaFunction {
    /// The function of Lua as bytecode, without its upvalues; `nil` for functions of Swift.
    ///
    /// - Parameter isLibrary: Lines and names of variables are left out, which no error in the library shows.
    package func compiled(named name: String, isLibrary: Bool = false) throws(LuaError) -> LuaCompiledChunk? {
        let core = reference.core
        try core.prepare()
        reference.push(on: core.L)
        defer { plua_pop(core.L, 1) }
        var count = 0
        guard let bytes = isLibrary ? plua_dump_library(core.L, &count) : plua_dump(core.L, &count) else { return nil }
        defer { plua_free(bytes) }
        return LuaCompiledChunk(name: name, bytes: Array(UnsafeRawBufferPointer(start: bytes, count: count)))
    }
}

extension LuaState {
    /// Loads a chunk that another state has compiled.
    ///
    /// - Parameter environment: The globals that the chunk sees; `nil` means those of the state.
    package func load(_ chunk: LuaCompiledChunk, environment: LuaTable? = nil) throws(LuaError) -> LuaFunction {
        try core.prepare()
        if let environment { try core.checkOwnership(of: .table(environment)) }
        let load = { L in
            chunk.bytes.withUnsafeBytes { bytes in
                plua_load_compiled(L, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, chunk.name)
            }
        }
        return try core.run(load) { takeChunk(environment) }
    }
}
