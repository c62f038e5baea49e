internal import CPeriluneShim

/// Takes one argument after the other, as the parameters of a typed function.
struct TypedArguments {
    private let arguments: LuaArguments
    private let L: OpaquePointer
    private var position: CInt = 0

    init(_ arguments: LuaArguments) {
        self.arguments = arguments
        L = arguments.core.L
    }

    /// The next argument.
    mutating func next<Value: LuaConvertible>(_ type: Value.Type) throws(LuaError) -> Value {
        try take(type) { (arguments, position) throws(LuaError) in try arguments.get(position) }
    }

    /// The next argument, decoded.
    mutating func decodeNext<Value: Decodable>(_ type: Value.Type) throws(LuaError) -> Value {
        try take(type) { (arguments, position) throws(LuaError) in try arguments.decode(position) }
    }

    /// The next argument. The commonest types go a short way, without a ``LuaValue`` in between, which halves the time of a call: each
    /// cast is between a type and itself, which the comparison before it has made sure of. (Not a function that returns an optional: Swift
    /// looks for the type of that at each call, which takes as long as all the rest.)
    private mutating func take<Value>(
        _ type: Value.Type, orConvert convert: (LuaArguments, Int) throws(LuaError) -> Value
    ) throws(LuaError) -> Value {
        position += 1
        if type == Int.self, lua_isinteger(L, position) != 0 {
            return unsafeBitCast(Int(lua_tointegerx(L, position, nil)), to: type)
        }
        if type == Double.self, lua_type(L, position) == LUA_TNUMBER {
            return unsafeBitCast(lua_tonumberx(L, position, nil), to: type)
        }
        if type == String.self, lua_type(L, position) == LUA_TSTRING, let text = arguments.core.text(at: position) {
            return unsafeBitCast(text, to: type)
        }
        if type == Bool.self, lua_type(L, position) == LUA_TBOOLEAN {
            return unsafeBitCast(lua_toboolean(L, position) != 0, to: type)
        }
        return try convert(arguments, Int(position))
    }
}

extension LuaCore {
    /// The string at an index, if it is UTF-8.
    fileprivate func text(at index: CInt) -> String? {
        var length = 0
        guard let bytes = lua_tolstring(L, index, &length) else { return nil }
        return String(validating: UnsafeRawBufferPointer(start: bytes, count: length), as: UTF8.self)
    }

    /// Pushes a value of one of the commonest types, and answers whether it is one.
    func pushPlain<Value>(_ value: Value) -> Bool {
        if Value.self == Int.self {
            lua_pushinteger(L, lua_Integer(unsafeBitCast(value, to: Int.self)))
        } else if Value.self == Double.self {
            lua_pushnumber(L, unsafeBitCast(value, to: Double.self))
        } else if Value.self == Bool.self {
            lua_pushboolean(L, unsafeBitCast(value, to: Bool.self) ? 1 : 0)
        } else if Value.self == String.self {
            push(unsafeBitCast(value, to: String.self))
        } else {
            return false
        }
        return true
    }
}
