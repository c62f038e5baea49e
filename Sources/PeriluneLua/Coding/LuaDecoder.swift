/// A decoder that turns Lua values into `Decodable` Swift values, following the rules of ``LuaEncoder``.
///
/// The requested type determines the result: an empty table can become an empty list, an empty dictionary, or a structure whose
/// fields are all optional. Tables are read without metamethods. A list has the keys 1, 2, 3, ... and no others. Conversions lose
/// no information: decoding fails if an integer is requested from 1.5, a number from "1", or a number that is out of range.
///
/// ```swift
/// let order = try LuaDecoder().decode(Order.self, from: value)
/// ```
public struct LuaDecoder {
    /// The contents of `Decoder.userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Creates a decoder.
    public init() {}

    /// Decodes a Swift value.
    ///
    /// - Throws: ``LuaError`` with code `conversion`, whose message begins with the path to the value: `orders[2].total: expected
    ///   a number, got a string`.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self, from value: LuaValue) throws(LuaError) -> Value {
        try value.copying { () throws(LuaError) in
            do {
                return try ValueDecoder(value, path: CodingPath(), userInfo: userInfo).decode(type)
            } catch {
                throw LuaError(coding: error)
            }
        }
    }
}

extension LuaArguments {
    /// Decodes the argument at a position.
    ///
    /// - Throws: ``LuaError`` that names function, position and path.
    public func decode<Value: Decodable>(_ position: Int, as type: Value.Type = Value.self) throws(LuaError) -> Value {
        try convertArgument(position, of: name) { () throws(LuaError) in try LuaDecoder().decode(type, from: self[position]) }
    }
}

// MARK: - Decoder implementation

private struct ValueDecoder: Decoder {
    enum Keys {
        case any, strings, integers
    }

    /// The value before its conversion to a plain value, for types such as ``LuaValue``.
    let given: LuaValue
    let value: LuaValue
    let path: CodingPath
    let sharedUserInfo: [CodingUserInfoKey: any Sendable]
    var keys = Keys.any

    init(_ value: LuaValue, path: CodingPath, userInfo: [CodingUserInfoKey: any Sendable]) {
        given = value
        self.value = value.plain
        self.path = path
        sharedUserInfo = userInfo
    }

    var codingPath: [any CodingKey] { path.keys }
    var userInfo: [CodingUserInfoKey: Any] { sharedUserInfo }

    func child(_ value: LuaValue, _ key: any CodingKey) -> ValueDecoder {
        ValueDecoder(value, path: path.appending(key), userInfo: sharedUserInfo)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .table(let table) = value else { throw mismatch([String: Any].self, expected: "a table") }
        let container = KeyedDecoding<Key>(decoder: self, table: table)
        try container.checkKeys()
        return KeyedDecodingContainer(container)
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        UnkeyedDecoding(decoder: self, elements: try elements())
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        SingleValueDecoding(decoder: self)
    }

    func failure(_ message: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: message))
    }

    func mismatch(_ type: Any.Type, expected: String) -> DecodingError {
        let context = DecodingError.Context(
            codingPath: codingPath, debugDescription: "expected \(expected), got \(value.shortDescription)")
        return value.isNil ? .valueNotFound(type, context) : .typeMismatch(type, context)
    }

    /// Returns the elements of a list.
    private func elements() throws -> [LuaValue] {
        guard case .table(let table) = value else { throw mismatch([Any].self, expected: "a list") }
        let pairs = try table.pairs()
        var elements = [LuaValue](repeating: .nil, count: pairs.count)
        for (key, value) in pairs {
            guard case .integer(let position) = key, position >= 1, position <= pairs.count else {
                throw failure("expected a list, got a table with the key \(key.keyDescription)")
            }
            elements[Int(position) - 1] = value
        }
        return elements
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let leaf = try leaf(type) { return leaf as! Value }  // `leaf` returns a value of the requested type
        guard !path.isTooDeep else { throw failure(CodingPath.depthMessage) }
        if case .string(let string) = value, let type = type as? any RangeReplaceableCollection<UInt8>.Type {
            return makeBytes(string, type) as! Value  // `makeBytes` returns a value of the requested type
        }
        var decoder = ValueDecoder(given, path: path.deeper(), userInfo: sharedUserInfo)
        if type is any StringKeyedDictionary.Type { decoder.keys = .strings }
        if type is any IntegerKeyedDictionary.Type { decoder.keys = .integers }
        return try Value(from: decoder)
    }

    private func makeBytes<Bytes: RangeReplaceableCollection<UInt8>>(_ string: LuaString, _ type: Bytes.Type) -> Any {
        Bytes(string.bytes)
    }

    /// Converts the value if the type is `Float` or conforms to ``LuaCoded``. Returns `nil` for other types.
    private func leaf(_ type: any Decodable.Type) throws -> Any? {
        switch type {
        case is Float.Type: return try float()
        case let type as any LuaCoded.Type:
            do throws(LuaError) {
                return try type.fromLua(given)
            } catch {
                let context = DecodingError.Context(codingPath: codingPath, debugDescription: error.message)
                throw value.isNil ? DecodingError.valueNotFound(type, context) : .typeMismatch(type, context)
            }
        default: return nil
        }
    }

    private func float() throws -> Float {
        let number = try decode(Double.self)
        let float = Float(number)
        guard float.isFinite || !number.isFinite else { throw failure("expected a 32-bit float, got \(number)") }
        return float
    }
}

private struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: ValueDecoder
    let table: LuaTable

    var codingPath: [any CodingKey] { decoder.codingPath }

    /// Checks that every key has the dictionary's key type. A structure needs no check, because it ignores unknown keys.
    func checkKeys() throws {
        guard decoder.keys != .any else { return }
        var names: Set<String> = []
        for (key, _) in try table.pairs() {
            switch (key, decoder.keys) {
            case (.string(let string), .strings):
                guard let name = string.string else { throw unfitting(key) }
                // Swift treats canonically equivalent strings as equal, so two different Lua keys can become the same Swift key.
                guard string.bytes.allSatisfy({ $0 < 0x80 }) || names.insert(name).inserted else {
                    throw decoder.failure("expected string keys, got two that Swift finds equal: `\(name)`")
                }
            case (.integer, .integers): continue
            default: throw unfitting(key)
            }
        }
    }

    private func unfitting(_ key: LuaValue) -> DecodingError {
        decoder.failure("expected \(decoder.keys == .strings ? "string" : "integer") keys, got the key \(key.keyDescription)")
    }

    var allKeys: [Key] {
        // Reading the table cannot fail, because it was already read when the container was created.
        ((try? table.pairs()) ?? []).compactMap { key, _ in
            switch key {
            case .string(let string): string.string.flatMap(Key.init(stringValue:))
            case .integer(let integer): Int(exactly: integer).flatMap(Key.init(intValue:))
            default: nil
            }
        }
    }

    private func child(_ key: any CodingKey) throws -> ValueDecoder {
        if let integer = key.intValue, decoder.keys != .strings {
            let value = try table.rawGet(.integer(Int64(integer)))
            if !value.isNil { return try counted(value, key) }
        }
        return try counted(try table.rawGet(.string(LuaString(key.stringValue))), key)
    }

    /// Returns a decoder for a field of the table, and charges the field to the copy allowance.
    private func counted(_ value: LuaValue, _ key: any CodingKey) throws -> ValueDecoder {
        let text = if case .string(let text) = value { text.bytes.count } else { 0 }
        try table.reference.core.chargeCopy(textInBytes: text)
        return decoder.child(value, key)
    }

    func contains(_ key: Key) -> Bool {
        (try? child(key).value.isNil) == false
    }

    func decodeNil(forKey key: Key) throws -> Bool {
        try child(key).value.isNil
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try decodeAny(type, key) }
    // The protocol's default implementations would reject the 128-bit types.
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try decodeAny(type, key) }
    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try decodeAny(type, key) }

    private func decodeAny<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value {
        let child = try child(key)
        guard child.value.isNil, !(type is any ExpressibleByNilLiteral.Type) else { return try child.decode(type) }
        let expected = (type as? any LuaConvertible.Type)?.luaTypeName ?? "a value"
        let message = "expected \(expected), got nil"
        throw DecodingError.keyNotFound(key, DecodingError.Context(codingPath: codingPath, debugDescription: message))
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try child(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try child(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder {
        try child(NamedKey("super"))
    }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        try child(key)
    }
}

private struct UnkeyedDecoding: UnkeyedDecodingContainer {
    let decoder: ValueDecoder
    let elements: [LuaValue]
    private(set) var currentIndex = 0

    init(decoder: ValueDecoder, elements: [LuaValue]) {
        self.decoder = decoder
        self.elements = elements
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    private var next: ValueDecoder {
        decoder.child(isAtEnd ? .nil : elements[currentIndex], IndexKey(currentIndex))
    }

    /// Advances only after success, because a caller may try several types on the same element.
    private mutating func advance<Result>(_ body: (ValueDecoder) throws -> Result) throws -> Result {
        let next = next
        guard !isAtEnd else { throw next.mismatch(Result.self, expected: "another element") }
        let result = try body(next)
        currentIndex += 1
        return result
    }

    mutating func decodeNil() -> Bool {
        // Lists cannot contain nil.
        false
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try advance { try $0.decode(type) } }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try advance { try $0.decode(type) } }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try advance { try $0.decode(type) } }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try advance { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try advance { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder {
        try advance { $0 }
    }
}

private struct SingleValueDecoding: SingleValueDecodingContainer {
    let decoder: ValueDecoder

    var codingPath: [any CodingKey] { decoder.codingPath }

    func decodeNil() -> Bool { decoder.value.isNil }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try decoder.decode(type) }
    func decode(_ type: Int128.Type) throws -> Int128 { try decoder.decode(type) }
    func decode(_ type: UInt128.Type) throws -> UInt128 { try decoder.decode(type) }
}

extension LuaValue {
    fileprivate var keyDescription: String {
        if case .string(let string) = self { "`\(string)`" } else { plainDescription }
    }
}
