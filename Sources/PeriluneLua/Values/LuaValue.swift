internal import CPeriluneShim

/// A Lua value.
///
/// Tables, functions, userdata and coroutines are handles: the object stays in Lua and lives at least as long as the handle. Use a
/// handle only with the state that created it, and on that state's thread or actor.
public enum LuaValue {
    /// `nil`.
    case `nil`
    /// A boolean.
    case boolean(Bool)
    /// A 64-bit integer.
    case integer(Int64)
    /// A float.
    case number(Double)
    /// A byte string.
    case string(LuaString)
    /// A table, by reference.
    case table(LuaTable)
    /// A Lua, C or Swift function, by reference.
    case function(LuaFunction)
    /// A full userdata, by reference.
    case userdata(LuaUserdata)
    /// A coroutine, by reference.
    case coroutine(LuaCoroutine)

    /// Whether this is `nil`.
    public var isNil: Bool {
        if case .nil = self { true } else { false }
    }

    /// Whether Lua treats the value as true: everything except `nil` and `false`. 0 is true.
    public var isTruthy: Bool {
        switch self {
        case .nil, .boolean(false): false
        default: true
        }
    }

    /// The name of the type with its article, for error messages: "an integer", "nil".
    public var typeName: String {
        switch self {
        case .nil: "nil"
        case .boolean: "a boolean"
        case .integer: "an integer"
        case .number: "a float"
        case .string: "a string"
        case .table: "a table"
        case .function: "a function"
        case .userdata: "a userdata"
        case .coroutine: "a coroutine"
        }
    }
}

extension LuaValue {
    /// The description of the value in error messages about wrong types: `the integer 5`, `a request`.
    package var shortDescription: String {
        switch self {
        case .nil: plain(LUA_TNIL)
        case .boolean(let value): plain(LUA_TBOOLEAN) { $0.integer = value ? 1 : 0 }
        case .integer(let value):
            plain(LUA_TNUMBER) {
                $0.is_integer = true
                $0.integer = value
            }
        case .number(let value): plain(LUA_TNUMBER) { $0.number = value }
        case .string(let value):
            value.bytes.withUnsafeBytes { bytes in
                plain(LUA_TSTRING) {
                    $0.bytes = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
                    $0.length = bytes.count
                }
            }
        case .table(let table): object(table.reference, LUA_TTABLE)
        case .userdata(let userdata): object(userdata.reference, LUA_TUSERDATA)
        case .function: plain(LUA_TFUNCTION)
        case .coroutine: plain(LUA_TTHREAD)
        }
    }

    private func plain(_ type: CInt, _ fill: (inout plua_plain) -> Void = { _ in }) -> String {
        var value = plua_plain()
        value.type = type
        fill(&value)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PLUA_DESCRIPTION_SIZE)) { text in
            let length = plua_describe_plain(text.baseAddress!, &value)
            return String(decoding: UnsafeRawBufferPointer(start: text.baseAddress, count: length), as: UTF8.self)
        }
    }

    /// Returns the state's description of an object if the state is running on this thread, otherwise the name of the object's
    /// type.
    private func object(_ reference: LuaReference, _ type: CInt) -> String {
        let core = reference.core
        guard core.isRunningHere, lua_checkstack(core.L, 5) != 0 else { return plain(type) }
        return core.entering(core.L) {
            reference.push(on: core.L)
            defer { plua_pop(core.L, 1) }
            return core.valueDescription(at: -1)
        }
    }

    /// The plain value that a library's userdata represents, such as NULL or bytes. For any other value, the value itself.
    var plain: LuaValue {
        guard case .userdata(let userdata) = self else { return self }
        return switch userdata.reference.core.libraryValues?.read(self) {
        case .null: .nil
        case .bytes(let bytes): .string(LuaString(bytes))
        default: self
        }
    }

    /// The null, blob or date in a library's userdata; `nil` for other values.
    var libraryValue: ScriptValue? {
        guard case .userdata(let userdata) = self else { return nil }
        return userdata.reference.core.libraryValues?.read(self)
    }
}

extension LuaValue: Equatable {
    /// Compares values like `rawequal` in Lua. Handles are equal if they refer to the same object; an integer and a float are equal
    /// if they represent the same number.
    public static func == (left: LuaValue, right: LuaValue) -> Bool {
        switch (left, right) {
        case (.nil, .nil): true
        case (.boolean(let left), .boolean(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.integer(let integer), .number(let number)), (.number(let number), .integer(let integer)):
            Int64(exactly: number) == integer
        case (.string(let left), .string(let right)): left == right
        case (.table(let left), .table(let right)): left.reference.isSame(as: right.reference)
        case (.function(let left), .function(let right)): left.reference.isSame(as: right.reference)
        case (.userdata(let left), .userdata(let right)): left.reference.isSame(as: right.reference)
        case (.coroutine(let left), .coroutine(let right)): left.reference.isSame(as: right.reference)
        default: false
        }
    }
}

extension LuaValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral
{
    /// Creates `nil`.
    public init(nilLiteral: ()) { self = .nil }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(stringLiteral value: String) { self = .string(LuaString(value)) }
}
