internal import CPeriluneShim

/// A sequential reader that converts the arguments of a typed function.
struct TypedArguments {
    private let arguments: LuaArguments
    private let L: OpaquePointer
    private var position: CInt = 0

    init(_ arguments: LuaArguments) {
        self.arguments = arguments
        L = arguments.core.L
    }

    /// Returns the next argument.
    mutating func next<Value: LuaConvertible>(_ type: Value.Type) throws(LuaError) -> Value {
        try take(type) { (arguments, position) throws(LuaError) in try arguments.get(position) }
    }

    /// Decodes the next argument.
    mutating func decodeNext<Value: Decodable>(_ type: Value.Type) throws(LuaError) -> Value {
        try take(type) { (arguments, position) throws(LuaError) in try arguments.decode(position) }
    }

    /// Returns the next argument. The most common types are converted without a ``LuaValue``, which halves the time of a call. The
    /// comparison before each cast ensures that both types are identical. (With a helper that returns an optional, Swift would look
    /// up the optional's type on every call, which doubles the time.)
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
    /// Returns the string at an index; `nil` if it is not UTF-8.
    fileprivate func text(at index: CInt) -> String? {
        var length = 0
        guard let bytes = lua_tolstring(L, index, &length) else { return nil }
        return String(validating: UnsafeRawBufferPointer(start: bytes, count: length), as: UTF8.self)
    }

    /// Pushes a value of one of the most common types, or returns false for any other type.
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
