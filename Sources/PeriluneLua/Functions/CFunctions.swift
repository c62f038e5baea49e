internal import CPeriluneShim

/// A C function, written with Lua's own headers. It takes its arguments from the stack of the given state, leaves its results
/// there, and returns their number. It may raise errors, like any C function in Lua.
///
/// Pass the C function itself: inside a Swift closure, a Lua error would jump over the closure's frame.
public typealias LuaCFunction = @convention(c) (_ L: OpaquePointer?) -> Int32

extension LuaState {
    /// Creates a Lua function from a C function.
    ///
    /// - Throws: ``LuaError`` with code `memory` if there is not enough memory.
    public func makeFunction(c function: @escaping LuaCFunction) throws(LuaError) -> LuaFunction {
        try core.prepare()
        lua_pushcclosure(core.L, function, 0)
        return LuaFunction(LuaReference(takingTopOf: core))
    }

    /// Returns the sorted paths of the native modules that scripts have loaded.
    package func nativeLibraries() throws(LuaError) -> [String] {
        guard case .table(let paths)? = try makeFunction(c: plua_native_libraries).call([]).first else { return [] }
        return try paths.array().compactMap { if case .string(let path) = $0 { path.description } else { nil } }.sorted()
    }
}
