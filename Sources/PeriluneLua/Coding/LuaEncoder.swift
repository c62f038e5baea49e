internal import CPeriluneShim

/// An encoder that turns `Encodable` Swift values into Lua values.
///
/// - Structures, classes and dictionaries with keys of type `String` or `Int` become tables; other collections become lists.
///   Integers stay integers; fields that are `nil` are left out. Coding keys with an `intValue` become integer keys.
/// - Collections of `UInt8` (`[UInt8]`, `Data`) are bytes and become strings, as does ``LuaString``.
/// - Handles (``LuaTable``, ``LuaFunction``, ``LuaValue``) are passed through.
///
/// ```swift
/// let value = try state.encode(Order(id: 1, lines: ["tea"]))
/// ```
public struct LuaEncoder {
    /// The metatable of tables made from arrays, which lets scripts distinguish an empty list from a record without fields. The
    /// default is `nil`: no metatable.
    public var arrayMetatable: LuaTable?
    /// The contents of `Encoder.userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    private let state: LuaState

    /// Creates an encoder whose tables belong to `state`.
    public init(state: LuaState) {
        self.state = state
    }

    /// Encodes a Swift value.
    ///
    /// - Throws: ``LuaError`` with code `conversion`, whose message begins with the path to the value: for integers beyond signed
    ///   64 bits, `nil` in a list, and nesting deeper than 100 levels.
    public func encode<Value: Encodable>(_ value: Value) throws(LuaError) -> LuaValue {
        let root = Node()
        let encoder = NodeEncoder(root, path: CodingPath(), state: state, userInfo: userInfo)
        do {
            try encoder.encode(value)
        } catch {
            throw LuaError(coding: error)
        }
        return try build(root)
    }

    // MARK: - Building

    private func build(_ node: Node) throws(LuaError) -> LuaValue {
        let core = state.core
        try core.prepare()
        if let arrayMetatable { try core.checkOwnership(of: .table(arrayMetatable)) }
        let depth = try checkOwnership(in: node)
        guard lua_checkstack(core.L, CInt(clamping: depth * 3 + 20)) != 0 else {
            throw LuaError(.memory, "the Lua stack cannot grow any more")
        }
        push(node, in: core)
        return core.takeValues(1)[0]
    }

    /// Checks that all handles in the node belong to the state, and returns the node's nesting depth.
    private func checkOwnership(in node: Node) throws(LuaError) -> Int {
        var depth = 0
        switch node.content {
        case .none: break
        case .value(let value): try state.core.checkOwnership(of: value)
        case .fields(let fields): for field in fields { depth = max(depth, try checkOwnership(in: field.value)) }
        case .elements(let elements): for element in elements { depth = max(depth, try checkOwnership(in: element)) }
        }
        return depth + 1
    }

    /// Pushes the value of a node. The stack must have room for every nesting level.
    private func push(_ node: Node, in core: LuaCore) {
        switch node.content {
        case .none: lua_pushnil(core.L)
        case .value(let value): core.push(value)
        case .fields(let fields):
            lua_createtable(core.L, 0, CInt(clamping: fields.count))
            for (key, value) in fields {
                core.push(key)
                push(value, in: core)
                lua_rawset(core.L, -3)
            }
        case .elements(let elements):
            lua_createtable(core.L, CInt(clamping: elements.count), 0)
            for (index, element) in elements.enumerated() {
                push(element, in: core)
                lua_rawseti(core.L, -2, lua_Integer(index + 1))
            }
            guard let arrayMetatable else { return }
            arrayMetatable.reference.push(on: core.L)
            lua_setmetatable(core.L, -2)
        }
    }
}

extension LuaState {
    /// Encodes a Swift value; see ``LuaEncoder``.
    public func encode<Value: Encodable>(_ value: Value) throws(LuaError) -> LuaValue {
        try LuaEncoder(state: self).encode(value)
    }
}

extension LuaFunction {
    /// Calls the function with encoded arguments and decodes its first result.
    ///
    /// ```swift
    /// let total = try function.call(decoding: Total.self, order, "EUR")
    /// ```
    ///
    /// - Throws: ``LuaError``, with code `conversion` if an argument cannot be encoded or the result cannot be decoded.
    public func call<each Argument: Encodable, Result: Decodable>(
        decoding type: Result.Type, _ argument: repeat each Argument
    ) throws(LuaError) -> Result {
        let state = try reference.core.openState()
        var arguments: [LuaValue] = []
        func append<Value: Encodable>(_ value: Value) throws(LuaError) {
            arguments.append(try state.encode(value))
        }
        repeat try append(each argument)
        return try LuaDecoder().decode(type, from: call(arguments).first ?? .nil)
    }
}

// MARK: - The tree

/// An encoded value. Encoding builds a tree of Swift objects before it creates tables, because superclass encoders may still add
/// fields at the end.
private final class Node {
    enum Content {
        case none
        case value(LuaValue)
        case fields([(key: LuaValue, value: Node)])
        case elements([Node])
    }

    var content = Content.none

    var isNil: Bool {
        switch content {
        case .none, .value(.nil): true
        default: false
        }
    }

    /// Makes the node a table with fields. Returns false if the node is already of another kind.
    func becomeFields() -> Bool {
        switch content {
        case .none: content = .fields([])
        case .fields: break
        default: return false
        }
        return true
    }

    func becomeElements() -> Bool {
        switch content {
        case .none: content = .elements([])
        case .elements: break
        default: return false
        }
        return true
    }

    func append(_ key: LuaValue, _ value: Node) {
        guard case .fields(var fields) = content else { return }
        content = .none
        fields.append((key, value))
        content = .fields(fields)
    }

    func append(_ element: Node) {
        guard case .elements(var elements) = content else { return }
        content = .none
        elements.append(element)
        content = .elements(elements)
    }

    var count: Int {
        if case .elements(let elements) = content { elements.count } else { 0 }
    }
}

// MARK: - Encoder implementation

private struct NodeEncoder: Encoder {
    let node: Node
    let path: CodingPath
    let state: LuaState
    let sharedUserInfo: [CodingUserInfoKey: any Sendable]
    var hasStringKeys = false

    init(_ node: Node, path: CodingPath, state: LuaState, userInfo: [CodingUserInfoKey: any Sendable]) {
        self.node = node
        self.path = path
        self.state = state
        sharedUserInfo = userInfo
    }

    var codingPath: [any CodingKey] { path.keys }
    var userInfo: [CodingUserInfoKey: Any] { sharedUserInfo }

    func child(_ node: Node, _ key: any CodingKey) -> NodeEncoder {
        NodeEncoder(node, path: path.appending(key), state: state, userInfo: sharedUserInfo)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        // A type that requests containers of two kinds fails when it uses the second container.
        _ = node.becomeFields()
        return KeyedEncodingContainer(KeyedEncoding<Key>(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        _ = node.becomeElements()
        return UnkeyedEncoding(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        SingleValueEncoding(encoder: self)
    }

    func failure(_ value: Any, _ message: String) -> EncodingError {
        .invalidValue(value, EncodingError.Context(codingPath: codingPath, debugDescription: message))
    }

    /// Encodes a value into the node.
    func encode<Value: Encodable>(_ value: Value) throws {
        if let leaf = try leaf(value) {
            guard case .none = node.content else { throw failure(value, "more than one value was encoded here") }
            node.content = .value(leaf)
            return
        }
        guard !path.isTooDeep else { throw failure(value, CodingPath.depthMessage) }
        var encoder = NodeEncoder(node, path: path.deeper(), state: state, userInfo: sharedUserInfo)
        encoder.hasStringKeys = value is any StringKeyedDictionary
        try value.encode(to: encoder)
    }

    /// Returns the Lua value of a type that is not encoded as a table, or `nil` for other types.
    private func leaf<Value: Encodable>(_ value: Value) throws -> LuaValue? {
        switch value {
        case let value as Bool: .boolean(value)
        case let value as String: .string(LuaString(value))
        case let value as any FixedWidthInteger: try integer(value)
        case let value as Double: .number(value)
        case let value as Float: .number(Double(value))
        case let value as LuaString: .string(value)
        case let value as LuaValue: value
        case let value as LuaTable: .table(value)
        case let value as LuaFunction: .function(value)
        case let value as any RangeReplaceableCollection<UInt8>: .string(LuaString(value))
        case let value as any LuaCoded: try value.toLua(in: state)
        default: nil
        }
    }

    private func integer(_ value: any FixedWidthInteger) throws -> LuaValue {
        guard let integer = Int64(exactly: value) else { throw failure(value, "\(value) is out of range for an integer in Lua") }
        return .integer(integer)
    }
}

private struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: NodeEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    private func add(_ node: Node, _ key: any CodingKey) throws {
        guard encoder.node.becomeFields() else { throw encoder.failure(key, "a value was encoded into containers of two kinds") }
        let isInteger = key.intValue != nil && !encoder.hasStringKeys
        encoder.node.append(isInteger ? .integer(Int64(key.intValue!)) : .string(LuaString(key.stringValue)), node)
    }

    func encodeNil(forKey key: Key) throws {}

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try encodeAny(value, key) }
    // The protocol's default implementations would reject the 128-bit types.
    func encode(_ value: Int128, forKey key: Key) throws { try encodeAny(value, key) }
    func encode(_ value: UInt128, forKey key: Key) throws { try encodeAny(value, key) }

    private func encodeAny<Value: Encodable>(_ value: Value, _ key: Key) throws {
        let node = Node()
        try add(node, key)
        try encoder.child(node, key).encode(value)
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        superEncoder(under: key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        superEncoder(under: key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        superEncoder(under: NamedKey("super"))
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        superEncoder(under: key)
    }

    private func superEncoder(under key: any CodingKey) -> NodeEncoder {
        let node = Node()
        try? add(node, key)
        return encoder.child(node, key)
    }
}

private struct UnkeyedEncoding: UnkeyedEncodingContainer {
    let encoder: NodeEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.node.count }

    private func encoderForNext() throws -> NodeEncoder {
        let key = IndexKey(count)
        let node = Node()
        guard encoder.node.becomeElements() else {
            throw encoder.failure(key, "a value was encoded into containers of two kinds")
        }
        encoder.node.append(node)
        return encoder.child(node, key)
    }

    func encodeNil() throws {
        let next = try encoderForNext()
        throw next.failure(Int?.none as Any, "nil cannot be an element of a list in Lua")
    }

    func encode<Value: Encodable>(_ value: Value) throws { try encodeAny(value) }
    func encode(_ value: Int128) throws { try encodeAny(value) }
    func encode(_ value: UInt128) throws { try encodeAny(value) }

    private func encodeAny<Value: Encodable>(_ value: Value) throws {
        let next = try encoderForNext()
        try next.encode(value)
        if next.node.isNil { throw next.failure(value, "nil cannot be an element of a list in Lua") }
    }

    func nestedContainer<NestedKey: CodingKey>(keyedBy type: NestedKey.Type) -> KeyedEncodingContainer<NestedKey> {
        superEncoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        superEncoder().unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        // Fails only if the type misuses the container. Encoding then throws, so the value stored here is discarded.
        (try? encoderForNext()) ?? encoder.child(Node(), IndexKey(count))
    }
}

private struct SingleValueEncoding: SingleValueEncodingContainer {
    let encoder: NodeEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    func encodeNil() throws {
        encoder.node.content = .value(.nil)
    }

    func encode<Value: Encodable>(_ value: Value) throws { try encoder.encode(value) }
    func encode(_ value: Int128) throws { try encoder.encode(value) }
    func encode(_ value: UInt128) throws { try encoder.encode(value) }
}
