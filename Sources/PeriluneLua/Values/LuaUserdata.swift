internal import CPeriluneShim

/// A handle to a userdata, which makes a value of the host available in Lua.
public struct LuaUserdata {
    let reference: LuaReference

    init(_ reference: LuaReference) {
        self.reference = reference
    }

    /// The state that contains the userdata; `nil` if the state no longer exists.
    package var state: LuaState? { reference.core.state }
}

/// A box that holds the Swift value of a userdata until the userdata is collected or its scope ends.
private final class UserdataBox<Value> {
    var value: Value?

    init(_ value: Value) {
        self.value = value
    }
}

/// A Swift type whose values scripts can hold, with its methods, properties and metamethods.
///
/// Scripts can use `value:method(...)`, `value.property` and operators, but they cannot access the metatable or the Swift value. A
/// type belongs to the state in which it was made, and lives as long as the state.
///
/// ```swift
/// let point = try state.makeUserdataType("point", of: Point.self)
/// try point.property("x") { .number($0.x) }
/// try point.method("distance") { [unowned point] from, arguments in
///     [.number(from.distance(to: try point.value(of: arguments[1])))]
/// }
/// try state.globals.set("origin", .userdata(point.make(Point(x: 0, y: 0))))
/// ```
public final class LuaUserdataType<Value> {
    /// The name of the type in error messages.
    public let name: String
    private let core: LuaCore
    /// The metatable, which this package's C code uses to create values of the type.
    package let metatable: LuaTable
    /// The address of ``metatable``, for fast comparison. It stays valid as long as the handle exists.
    private let metatablePointer: UnsafeRawPointer?
    private let methods: LuaTable
    private var properties: [LuaString: Property] = [:]
    /// Hints for missing members, by name. Each hint names the replacement for a member that other libraries have.
    package var advice: [String: String] = [:]
    /// The end of messages about members that cannot be set: the calls to use instead.
    package var settingAdvice: String?
    /// Whether values are stored directly in the userdata and not in a box.
    private let isInline: Bool

    private struct Property {
        let get: (Value) throws -> LuaValue
        let set: ((Value, LuaValue) throws -> Void)?
    }

    fileprivate init(_ name: String, isInline: Bool, in state: LuaState) throws(LuaError) {
        (self.name, self.isInline) = (name, isInline)
        core = state.core
        metatable = try state.makeTable()
        metatable.reference.push(on: core.L)
        metatablePointer = lua_topointer(core.L, -1)
        plua_pop(core.L, 1)
        methods = try state.makeTable()
        try metatable.rawSet("__name", .string(LuaString(name)))
        try metatable.rawSet("__metatable", false)
        try metatable.rawSet("__index", .table(methods))
        if !isInline { try installCollector() }
    }

    private func installCollector() throws(LuaError) {
        try core.prepare()
        metatable.reference.push(on: core.L)
        _ = lua_pushstring(core.L, "__gc")
        lua_pushcclosure(core.L, { plua_collect_object($0) }, 0)
        try core.run(plua_raw_set)
    }

    // MARK: - Defining

    /// Adds a method.
    ///
    /// - Parameter body: Receives the value and the other arguments, whose positions start at 1.
    /// - Parameter name: The name of the method in scripts: `point:distance(other)`.
    /// - Throws: ``LuaError`` with code `memory` if there is not enough memory.
    public func method(
        _ name: String, _ body: @escaping (Value, LuaMethodArguments) throws -> [LuaValue]
    ) throws(LuaError) {
        let fullName = "\(self.name):\(name)"
        let function = try core.makeFunction(
            fullName,
            raw: { core, count in
                let value = try self.value(at: 1, for: fullName)
                let arguments = LuaArguments(core: core, name: fullName, count: count)
                return try core.pushResults(body(value, LuaMethodArguments(arguments)))
            })
        try methods.rawSet(.string(LuaString(name)), .function(function))
    }

    /// Adds a function as a method. The function receives the userdata as its first argument.
    package func method(_ name: String, _ function: LuaFunction) throws(LuaError) {
        try methods.rawSet(.string(LuaString(name)), .function(function))
    }

    /// Adds a property, which is read-only if it has no setter.
    ///
    /// - Throws: ``LuaError`` with code `memory` if there is not enough memory.
    public func property(
        _ name: String, _ get: @escaping (Value) throws -> LuaValue, set: ((Value, LuaValue) throws -> Void)? = nil
    ) throws(LuaError) {
        if properties.isEmpty { try installProperties() }
        properties[LuaString(name)] = Property(get: get, set: set)
    }

    /// Sets a metamethod, such as `__add`. The type itself defines `__index`, `__newindex`, `__gc`, `__name` and `__metatable`.
    ///
    /// - Throws: ``LuaError`` with code `memory` if there is not enough memory.
    public func metamethod(
        _ event: String, _ body: @escaping (LuaArguments) throws -> [LuaValue]
    ) throws(LuaError) {
        precondition(!["__index", "__newindex", "__gc", "__name", "__metatable"].contains(event))
        let function = try core.makeFunction("\(name).\(event)", body)
        try metatable.rawSet(.string(LuaString(event)), .function(function))
    }

    /// Makes the fields, operators and string conversion of all values throw an error. Scripts can still store, pass and compare
    /// the values.
    package func refuseUse(_ error: @escaping () -> LuaError) throws(LuaError) {
        for event in [
            "add", "sub", "mul", "div", "mod", "pow", "unm", "idiv", "band", "bor", "bxor", "shl", "shr", "bnot", "concat", "len",
            "lt",
            "le", "index", "newindex", "call", "tostring", "pairs", "close",
        ] {
            let function = try core.makeFunction(name, raw: { _, _ in throw error() })
            try metatable.rawSet(.string(LuaString("__" + event)), .function(function))
        }
    }

    private func installProperties() throws(LuaError) {
        let index = try core.makeFunction(
            "\(name).__index",
            raw: { core, _ in
                let value = try self.value(at: 1, for: self.name)
                lua_settop(core.L, 2)
                // Methods are looked up first, because this needs no call into Swift.
                self.methods.reference.push(on: core.L)
                lua_pushvalue(core.L, 2)
                if lua_rawget(core.L, -2) != LUA_TNIL { return 1 }
                guard let key = core.string(at: 2), let property = self.properties[key] else {
                    throw self.unknownMember(core.value(at: 2))
                }
                return try core.pushResults(CollectionOfOne(property.get(value)))
            })
        let newIndex = try core.makeFunction("\(name).__newindex") { arguments in
            let value = try self.value(at: 1, for: self.name)
            guard case .string(let key) = arguments[2], let set = self.properties[key]?.set else {
                throw self.readOnlyMember(arguments[2])
            }
            try set(value, arguments[3])
            return []
        }
        try metatable.rawSet("__index", .function(index))
        try metatable.rawSet("__newindex", .function(newIndex))
    }

    private func unknownMember(_ key: LuaValue) -> LuaError {
        if case .string(let key) = key, let advice = advice[key.description] {
            var error = LuaError(.runtime, "\(name) has no member `\(key)`; \(advice)")
            error.fields["kind"] = "unknown_member"
            return error
        }
        let methodNames = (try? methods.pairs())?.compactMap { try? String.fromLua($0.key) } ?? []
        let names = (properties.keys.map(\.description) + methodNames).sorted().joined(separator: ", ")
        var error = LuaError(.runtime, "\(name) has no member \(Self.describe(key)); it has: \(names)")
        error.fields["kind"] = "unknown_member"
        return error
    }

    private func readOnlyMember(_ key: LuaValue) -> LuaError {
        let advice = settingAdvice.map { "; \($0)" } ?? ""
        var error = LuaError(.runtime, "\(name): \(Self.describe(key)) cannot be set\(advice)")
        error.fields["kind"] = "readonly_member"
        return error
    }

    private static func describe(_ key: LuaValue) -> String {
        if case .string(let key) = key { "`\(key)`" } else { key.plainDescription }
    }

    // MARK: - Values

    /// Creates a userdata with a Swift value.
    ///
    /// - Throws: ``LuaError`` with code `memory` if there is not enough memory.
    public func make(_ value: Value) throws(LuaError) -> LuaUserdata {
        guard isInline else { return try make(UserdataBox(value)) }
        try core.prepare()
        metatable.reference.push(on: core.L)
        plua_push_bytes(core.L, MemoryLayout<Value>.size).storeBytes(of: value, as: Value.self)
        return LuaUserdata(LuaReference(takingTopOf: core))
    }

    private func make(_ box: UserdataBox<Value>) throws(LuaError) -> LuaUserdata {
        try core.prepare()
        metatable.reference.push(on: core.L)
        plua_push_object(core.L, Unmanaged.passRetained(box).toOpaque())
        return LuaUserdata(LuaReference(takingTopOf: core))
    }

    /// Returns whether a value is of this type.
    public func matches(_ value: LuaValue) -> Bool {
        guard case .userdata(let userdata) = value, push(userdata) else { return false }
        defer { plua_pop(core.L, 1) }
        return holds(at: -1)
    }

    /// Returns the Swift value in a Lua value.
    ///
    /// - Throws: ``LuaError`` with code `conversion` if the value is not of this type, or with code `usage` if its scope has ended.
    public func value(of value: LuaValue) throws(LuaError) -> Value {
        try self.value(of: value, for: name)
    }

    /// Returns the Swift value in a Lua value.
    ///
    /// - Parameter user: The name of the calling function in errors.
    package func value(of value: LuaValue, for user: String) throws(LuaError) -> Value {
        guard case .userdata(let userdata) = value, push(userdata) else { throw mismatch(value.shortDescription, for: user) }
        defer { plua_pop(core.L, 1) }
        guard holds(at: -1) else { throw mismatch(value.shortDescription, for: user) }
        return try held(at: -1, for: user)
    }

    /// Returns the Swift value of the userdata at a stack index.
    private func value(at index: CInt, for user: String) throws(LuaError) -> Value {
        guard holds(at: index) else { throw mismatch(core.valueDescription(at: index), for: user) }
        return try held(at: index, for: user)
    }

    private func mismatch(_ description: String, for user: String) -> LuaError {
        LuaError(.conversion, "\(user): expected \(name), got \(description)")
    }

    /// Pushes a userdata on the stack. Returns `false` if it belongs to another state or the stack is full.
    private func push(_ userdata: LuaUserdata) -> Bool {
        guard core.isOpen, userdata.reference.core === core, lua_checkstack(core.L, 3) != 0 else { return false }
        userdata.reference.push(on: core.L)
        return true
    }

    /// Returns whether the value at a stack index is a userdata of this type.
    private func holds(at index: CInt) -> Bool {
        let L = core.L
        guard lua_type(L, index) == LUA_TUSERDATA, lua_getmetatable(L, index) != 0 else { return false }
        defer { plua_pop(L, 1) }
        return lua_topointer(L, -1) == metatablePointer
    }

    /// Returns the Swift value of a userdata of this type at a stack index.
    private func held(at index: CInt, for user: String) throws(LuaError) -> Value {
        if isInline, let bytes = lua_touserdata(core.L, index) { return bytes.load(as: Value.self) }
        // Each use of a generic type costs a lookup of its metadata, so this function uses few of them.
        guard let object = plua_object(core.L, index),
            let value = Unmanaged<UserdataBox<Value>>.fromOpaque(object).takeUnretainedValue().value
        else {
            var error = LuaError(.usage, "\(user): used after its scope has ended")
            error.fields["kind"] = "dead_handle"
            throw error
        }
        return value
    }

    /// Returns the state to which the type belongs.
    package func openState() throws(LuaError) -> LuaState { try core.openState() }

    // MARK: - Scopes

    /// Creates a userdata that is valid until a scope ends. Later uses in scripts raise an error of kind `dead_handle`.
    ///
    /// - Throws: ``LuaError`` if the scope has ended, or there is not enough memory.
    public func make(_ value: Value, in scope: LuaScope) throws(LuaError) -> LuaUserdata {
        precondition(!isInline, "values without a box have no scope")
        let box = UserdataBox(value)
        let userdata = try make(box)
        scope.onEnd { box.value = nil }
        return userdata
    }
}

/// The arguments of a method call without the value itself. Positions start at 1.
public struct LuaMethodArguments {
    private let arguments: LuaArguments

    init(_ arguments: LuaArguments) {
        self.arguments = arguments
    }

    /// The number of arguments that the script passed.
    public var count: Int { max(arguments.count - 1, 0) }

    /// The argument at a position, from 1; `nil` after the last one.
    public subscript(position: Int) -> LuaValue { arguments[position + 1] }

    /// Returns the argument at a position, converted to a Swift type.
    ///
    /// - Throws: ``LuaError`` that names the function and the position if the argument cannot be converted.
    public func get<Value: LuaConvertible>(_ position: Int, as type: Value.Type = Value.self) throws(LuaError) -> Value {
        try convertArgument(position, of: arguments.name) { () throws(LuaError) in try Value.fromLua(self[position]) }
    }

    /// Decodes the argument at a position.
    ///
    /// - Throws: ``LuaError`` that names the function and the position if the argument cannot be decoded.
    public func decode<Value: Decodable>(_ position: Int, as type: Value.Type = Value.self) throws(LuaError) -> Value {
        try convertArgument(position, of: arguments.name) { () throws(LuaError) in
            try LuaDecoder().decode(type, from: self[position])
        }
    }

    /// The state of the calling script.
    public var state: LuaState {
        get throws(LuaError) { try arguments.state }
    }

    /// Returns the error for an argument of a wrong type.
    public func mismatch(_ position: Int, expected: String) -> LuaError {
        let got = position > count ? "no value" : self[position].shortDescription
        return .argument(arguments.name, position, "expected \(expected), got \(got)")
    }
}

/// A scope that limits the lifetime of userdata.
public final class LuaScope {
    private var endings: [() -> Void] = []
    private var hasEnded = false

    func onEnd(_ ending: @escaping () -> Void) {
        if hasEnded { ending() } else { endings.append(ending) }
    }

    fileprivate func end() {
        hasEnded = true
        for ending in endings { ending() }
        endings = []
    }
}

extension LuaState {
    /// Creates a userdata type.
    ///
    /// - Throws: ``LuaError`` with code `memory` if there is not enough memory.
    public func makeUserdataType<Value>(
        _ name: String, of type: Value.Type = Value.self
    ) throws(LuaError) -> LuaUserdataType<Value> {
        try makeUserdataType(name, of: type, isInline: false)
    }

    /// Creates a userdata type whose values are plain bytes, stored directly in the userdata. Such values need no cleanup when they
    /// are collected, and C code can create and read them.
    package func makeInlineUserdataType<Value: BitwiseCopyable>(
        _ name: String, of type: Value.Type = Value.self
    ) throws(LuaError) -> LuaUserdataType<Value> {
        try makeUserdataType(name, of: type, isInline: true)
    }

    private func makeUserdataType<Value>(
        _ name: String, of type: Value.Type, isInline: Bool
    ) throws(LuaError) -> LuaUserdataType<Value> {
        let type = try LuaUserdataType<Value>(name, isInline: isInline, in: self)
        userdataTypes[ObjectIdentifier(Value.self)] = type
        return type
    }

    /// Returns the most recently created userdata type for a Swift type, or `nil` if none exists.
    public func userdataType<Value>(of type: Value.Type) -> LuaUserdataType<Value>? {
        userdataTypes[ObjectIdentifier(type)] as? LuaUserdataType<Value>
    }

    /// Runs a closure with a scope. Userdata created in the scope become invalid when the closure returns or throws.
    public func withScope<Result>(_ body: (LuaScope) throws -> Result) rethrows -> Result {
        let scope = LuaScope()
        defer { scope.end() }
        return try body(scope)
    }
}
