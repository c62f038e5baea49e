internal import CPeriluneShim

/// A function in C, written against Lua's own headers: takes its arguments from the stack of the state it is given, leaves its results
/// there, and returns how many they are. It may raise errors, as any C function of Lua does.
///
/// Name the C function itself: an error of Lua would jump over the frame of a closure in Swift around it.
public typealias LuaCFunction = @convention(c) (_ L: OpaquePointer?) -> Int32

extension LuaState {
    /// Makes a function of Lua out of a function in C.
    ///
    /// - Throws: ``LuaError`` with code `memory` if there is not enough memory.
    public func makeFunction(c function: @escaping LuaCFunction) throws(LuaError) -> LuaFunction {
        try core.prepare()
        lua_pushcclosure(core.L, function, 0)
        return LuaFunction(LuaReference(takingTopOf: core))
    }

    /// The paths of the libraries of native modules that scripts have loaded, sorted.
    package func nativeLibraries() throws(LuaError) -> [String] {
        guard case .table(let paths)? = try makeFunction(c: plua_native_libraries).call([]).first else { return [] }
        return try paths.array().compactMap { if case .string(let path) = $0 { path.description } else { nil } }.sorted()
    }
}
