/// A Swift type whose values can be converted to and from Lua values.
///
/// Conversions lose no information. A float becomes an integer only if it has no fractional part, a number out of range is an
/// error, and strings are not converted to numbers.
public protocol LuaConvertible {
    /// Converts a Lua value.
    ///
    /// - Throws: ``LuaError`` with code `conversion` that names the expected type and the actual value.
    static func fromLua(_ value: LuaValue) throws(LuaError) -> Self

    /// Converts the value to Lua. New tables belong to `state`.
    ///
    /// - Throws: ``LuaError`` if Lua cannot represent the value or memory runs out.
    func toLua(in state: LuaState) throws(LuaError) -> LuaValue

    /// The name of the expected Lua type in error messages: "an integer".
    static var luaTypeName: String { get }
}

extension LuaConvertible {
    static func mismatch(_ value: LuaValue) -> LuaError {
        LuaError(.conversion, "expected \(luaTypeName), got \(value.shortDescription)")
    }
}

extension LuaValue: LuaConvertible {
    public static var luaTypeName: String { "a value" }
    public static func fromLua(_ value: LuaValue) throws(LuaError) -> LuaValue { value }
    public func toLua(in state: LuaState) throws(LuaError) -> LuaValue { self }
}

extension Bool: LuaConvertible {
    public static var luaTypeName: String { "a boolean" }

    public static func fromLua(_ value: LuaValue) throws(LuaError) -> Bool {
        guard case .boolean(let value) = value else { throw mismatch(value) }
        return value
    }

    public func toLua(in state: LuaState) throws(LuaError) -> LuaValue { .boolean(self) }
}

extension LuaConvertible where Self: FixedWidthInteger {
    public static var luaTypeName: String { "an integer" }

    public static func fromLua(_ value: LuaValue) throws(LuaError) -> Self {
        let result: Self? =
            switch value {
            case .integer(let integer): Self(exactly: integer)
            case .number(let number): Self(exactly: number)
            default: throw mismatch(value)
            }
        guard let result else {
            throw LuaError(.conversion, "expected an integer from \(Self.min) to \(Self.max), got \(value.plainDescription)")
        }
        return result
    }

    /// - Throws: ``LuaError`` with code `conversion` if the number does not fit into a signed 64-bit integer.
    public func toLua(in state: LuaState) throws(LuaError) -> LuaValue {
        guard let integer = Int64(exactly: self) else {
            throw LuaError(.conversion, "\(self) is out of range for an integer in Lua")
        }
        return .integer(integer)
    }
}

extension Int: LuaConvertible {}
extension Int64: LuaConvertible {}
extension Int32: LuaConvertible {}
extension Int16: LuaConvertible {}
extension Int8: LuaConvertible {}
extension UInt: LuaConvertible {}
extension UInt64: LuaConvertible {}
extension UInt32: LuaConvertible {}
extension UInt16: LuaConvertible {}
extension UInt8: LuaConvertible {}
extension Int128: LuaConvertible {}
extension UInt128: LuaConvertible {}

extension Double: LuaConvertible {
    public static var luaTypeName: String { "a number" }

    public static func fromLua(_ value: LuaValue) throws(LuaError) -> Double {
        switch value {
        case .integer(let integer): return Double(integer)
        case .number(let number): return number
        default: throw mismatch(value)
        }
    }

    public func toLua(in state: LuaState) throws(LuaError) -> LuaValue { .number(self) }
}

extension LuaString: LuaConvertible {
    public static var luaTypeName: String { "a string" }

    public static func fromLua(_ value: LuaValue) throws(LuaError) -> LuaString {
        guard case .string(let string) = value.plain else { throw mismatch(value) }
        return string
    }

    public func toLua(in state: LuaState) throws(LuaError) -> LuaValue { .string(self) }
}

extension String: LuaConvertible {
    public static var luaTypeName: String { "a string" }

    /// - Throws: ``LuaError`` with code `conversion` if the bytes are not UTF-8. Use ``LuaString`` for arbitrary bytes.
    public static func fromLua(_ value: LuaValue) throws(LuaError) -> String {
        guard case .string(let bytes) = value.plain else { throw mismatch(value) }
        guard let string = bytes.string else { throw LuaError(.conversion, "expected a string of valid UTF-8") }
        return string
    }

    public func toLua(in state: LuaState) throws(LuaError) -> LuaValue { .string(LuaString(self)) }
}

extension LuaTable: LuaConvertible {
    public static var luaTypeName: String { "a table" }

    public static func fromLua(_ value: LuaValue) throws(LuaError) -> LuaTable {
        guard case .table(let table) = value else { throw mismatch(value) }
        return table
    }

    public func toLua(in state: LuaState) throws(LuaError) -> LuaValue { .table(self) }
}

extension LuaFunction: LuaConvertible {
    public static var luaTypeName: String { "a function" }

    public static func fromLua(_ value: LuaValue) throws(LuaError) -> LuaFunction {
        guard case .function(let function) = value else { throw mismatch(value) }
        return function
    }

    public func toLua(in state: LuaState) throws(LuaError) -> LuaValue { .function(self) }
}

extension Optional: LuaConvertible where Wrapped: LuaConvertible {
    public static var luaTypeName: String { "\(Wrapped.luaTypeName) or nil" }

    public static func fromLua(_ value: LuaValue) throws(LuaError) -> Wrapped? {
        if value.plain.isNil { return nil }
        do {
            return try Wrapped.fromLua(value)
        } catch  where error.code == .conversion && error.message == Wrapped.mismatch(value).message {
            throw mismatch(value)
        }
    }

    public func toLua(in state: LuaState) throws(LuaError) -> LuaValue {
        guard let self else { return .nil }
        return try self.toLua(in: state)
    }
}

extension Array: LuaConvertible where Element: LuaConvertible {
    public static var luaTypeName: String { "a list" }

    public static func fromLua(_ value: LuaValue) throws(LuaError) -> [Element] {
        guard case .table(let table) = value else { throw mismatch(value) }
        var elements: [Element] = []
        for (index, value) in try table.array().enumerated() {
            do {
                elements.append(try Element.fromLua(value))
            } catch {
                throw LuaError(.conversion, "element \(index + 1): \(error.message)")
            }
        }
        return elements
    }

    public func toLua(in state: LuaState) throws(LuaError) -> LuaValue {
        let table = try state.makeTable(arrayCount: count)
        for (index, element) in enumerated() {
            try table.rawSet(.integer(Int64(index + 1)), element.toLua(in: state))
        }
        return .table(table)
    }
}

extension Dictionary: LuaConvertible where Key == String, Value: LuaConvertible {
    public static var luaTypeName: String { "a table with string keys" }

    public static func fromLua(_ value: LuaValue) throws(LuaError) -> [String: Value] {
        guard case .table(let table) = value else { throw mismatch(value) }
        var dictionary: [String: Value] = [:]
        for (key, value) in try table.pairs() {
            let name = try String.fromLua(key)
            do {
                dictionary[name] = try Value.fromLua(value)
            } catch {
                throw LuaError(.conversion, "field \(name): \(error.message)")
            }
        }
        return dictionary
    }

    public func toLua(in state: LuaState) throws(LuaError) -> LuaValue {
        let table = try state.makeTable(fieldCount: count)
        for (key, value) in self { try table.rawSet(.string(LuaString(key)), value.toLua(in: state)) }
        return .table(table)
    }
}

extension LuaValue {
    /// The description of the value in error messages: the number, or the type of any other value.
    var plainDescription: String {
        switch self {
        case .integer(let integer): "\(integer)"
        case .number(let number): "\(number)"
        default: typeName
        }
    }
}
