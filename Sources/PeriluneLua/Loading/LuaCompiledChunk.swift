internal import CPeriluneShim

/// A chunk as bytecode of this process, which other states load faster than its text.
package struct LuaCompiledChunk: Sendable {
    /// The name of the chunk in errors and tracebacks, including Lua's prefix for its kind.
    let name: String
    package let bytes: [UInt8]
}

extension LuaFunction {
    /// Returns the function as bytecode without its upvalues; `nil` for Swift functions.
    package func compiled(named name: String) throws(LuaError) -> LuaCompiledChunk? {
        let core = reference.core
        try core.prepare()
        reference.push(on: core.L)
        defer { plua_pop(core.L, 1) }
        var count = 0
        guard let bytes = plua_dump(core.L, &count) else { return nil }
        defer { plua_free(bytes) }
        return LuaCompiledChunk(name: name, bytes: Array(UnsafeRawBufferPointer(start: bytes, count: count)))
    }
}

extension LuaState {
    /// Loads a chunk that another state has compiled.
    ///
    /// - Parameter environment: The globals of the chunk; `nil` means those of the state.
    package func load(_ chunk: LuaCompiledChunk, environment: LuaTable? = nil) throws(LuaError) -> LuaFunction {
        try load(bytecode: chunk.bytes, chunkName: chunk.name, environment: environment)
    }

    /// Loads a chunk of the host's own library from bytecode that the build has made; see ``loadLibrary(_:named:environment:)``.
    ///
    /// Bytecode is not checked: it must come from the program itself and from the loaded release of Lua.
    package func loadLibrary(bytecode: [UInt8], named name: String, environment: LuaTable? = nil) throws(LuaError) -> LuaFunction {
        try load(bytecode: bytecode, chunkName: PLUA_LIBRARY_CHUNK + name, environment: environment)
    }

    private func load(bytecode: [UInt8], chunkName: String, environment: LuaTable?) throws(LuaError) -> LuaFunction {
        try core.prepare()
        if let environment { try core.checkOwnership(of: .table(environment)) }
        let load = { L in
            bytecode.withUnsafeBytes { bytes in
                plua_load_compiled(L, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, chunkName)
            }
        }
        return try core.run(load) { takeChunk(environment) }
    }
}
