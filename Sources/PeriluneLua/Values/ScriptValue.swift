#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A plain value from a script, for results, arguments and parameters whose types are not known in advance.
///
/// ```swift
/// let report: ScriptValue = try await host.run(
///     source: "return { total = 12.5, lines = { 'tea', 2 } }")
/// let article = report["lines"]?[0]
/// let copy: ScriptValue = try await host.run(
///     source: "return ...", arguments: report)
/// ```
///
/// Literals of mixed types need an explicit type: `["id": 7, "customer": "Verne"] as ScriptValue`.
///
/// The value is a `Sendable` copy, independent of the Lua state. Empty tables and tables with the keys 1, 2, 3, ... become lists;
/// other tables, records and rows become fields. Functions and other values that are not plain data become ``other(_:)``.
@nonexhaustive
public enum ScriptValue: Sendable {
    /// The Lua value `nil`.
    case `nil`
    /// The value `perilune.null`, which represents NULL in tables, because tables cannot contain `nil`.
    case null
    /// A boolean.
    case boolean(Bool)
    /// An integer.
    case integer(Int64)
    /// A float.
    case number(Double)
    /// A UTF-8 string.
    case string(String)
    /// A string that is not UTF-8, or a blob. In Lua, the bytes become a string.
    case bytes(Data)
    /// A `perilune.date`.
    case date(Date)
    /// A table whose keys are 1, 2, 3, and so on.
    case list([ScriptValue])
    /// A table whose keys are strings.
    case fields([String: ScriptValue])
    /// A value that cannot leave Lua, described by its type: "a function". It cannot be passed to a script.
    case other(String)

    /// The field with the given name; `nil` if the field does not exist or the value has no fields.
    public subscript(name: String) -> ScriptValue? {
        if case .fields(let fields) = self { fields[name] } else { nil }
    }

    /// The element at a position, from 0; `nil` if the element does not exist or the value is not a list.
    public subscript(position: Int) -> ScriptValue? {
        if case .list(let elements) = self, elements.indices.contains(position) { elements[position] } else { nil }
    }
}

// MARK: - Lua

extension ScriptValue: LuaCoded {
    public static var luaTypeName: String { "a plain value" }

    public static func fromLua(_ value: LuaValue) throws(LuaError) -> ScriptValue {
        try value.copying { () throws(LuaError) in try copy(value, depth: 0) }
    }

    /// The maximum nesting depth, the same as in ``LuaEncoder``. A table that contains itself exceeds it.
    private static let deepest = 100

    private static func copy(_ value: LuaValue, depth: Int) throws(LuaError) -> ScriptValue {
        switch value {
        case .nil: return .nil
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .number(let value): return .number(value)
        case .string(let text):
            return String(validating: text.bytes, as: UTF8.self).map { .string($0) } ?? .bytes(Data(text.bytes))
        case .table(let table):
            guard depth < deepest else {
                throw LuaError(.conversion, "the value is nested too deeply: more than \(deepest) tables")
            }
            return try copy(table, depth: depth + 1)
        case .userdata:
            return value.libraryValue ?? .other(value.typeName)
        default: return .other(value.typeName)
        }
    }

    private static func copy(_ table: LuaTable, depth: Int) throws(LuaError) -> ScriptValue {
        let pairs = try table.pairs()
        if let elements = list(pairs) {
            var copies: [ScriptValue] = []
            for element in elements { copies.append(try copy(element, depth: depth)) }
            return .list(copies)
        }
        var fields: [String: ScriptValue] = [:]
        for (key, value) in pairs {
            guard case .string(let name) = key, let name = String(validating: name.bytes, as: UTF8.self) else {
                throw LuaError(
                    .conversion, "expected a list, or a table whose keys are text, got one with the key \(key.keyText)")
            }
            guard fields.updateValue(try copy(value, depth: depth), forKey: name) == nil else {
                throw LuaError(.conversion, "expected different keys, got two that Swift finds equal: `\(name)`")
            }
        }
        return .fields(fields)
    }

    /// Returns the elements if the keys are 1, 2, 3, ...; otherwise `nil`.
    private static func list(_ pairs: [(key: LuaValue, value: LuaValue)]) -> [LuaValue]? {
        var elements = [LuaValue](repeating: .nil, count: pairs.count)
        for (key, value) in pairs {
            guard case .integer(let position) = key, position >= 1, position <= pairs.count else { return nil }
            elements[Int(position) - 1] = value
        }
        return elements
    }

    public func toLua(in state: LuaState) throws(LuaError) -> LuaValue {
        switch self {
        case .nil: return .nil
        case .null: return try state.core.libraryValues?.makeNull(state) ?? .nil
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .number(let value): return .number(value)
        case .string(let value): return .string(LuaString(value))
        case .bytes(let value): return .string(LuaString(value))
        case .date(let value):
            // Without the database libraries, dates have no Lua representation.
            guard let value = value as Any as? any LuaConvertible else {
                throw LuaError(.conversion, "a date has no form in Lua without the libraries for databases")
            }
            return try value.toLua(in: state)
        case .list(let elements):
            let table = try state.makeTable(arrayCount: elements.count)
            for (index, element) in elements.enumerated() {
                // A `nil` would end the list in Lua, so lists must use null.
                if case .nil = element { throw LuaError(.conversion, "element \(index + 1) of a list is nil; use null") }
                try table.rawSet(.integer(Int64(index + 1)), element.toLua(in: state))
            }
            return .table(table)
        case .fields(let fields):
            let table = try state.makeTable(fieldCount: fields.count)
            for (name, value) in fields { try table.rawSet(.string(LuaString(name)), value.toLua(in: state)) }
            return .table(table)
        case .other(let name): throw LuaError(.conversion, "\(name) of a script cannot be passed back to a script")
        }
    }
}

extension LuaValue {
    /// The text of a table key in error messages.
    fileprivate var keyText: String {
        switch self {
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .boolean(let value): "\(value)"
        case .string: "that is not UTF-8"
        default: typeName
        }
    }
}

// MARK: - Codable

extension ScriptValue {
    /// Decodes a value from JSON or another format. The decoder's configuration determines the format of dates and bytes. `null`
    /// becomes ``null``.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode([ScriptValue].self) {
            self = .list(value)
        } else if let value = try? container.decode([String: ScriptValue].self) {
            self = .fields(value)
        } else {
            // Decoded as ``null`` and not as ``nil``, because lists can contain ``null``.
            self = .null
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .nil, .null: try container.encodeNil()
        case .boolean(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .bytes(let value): try container.encode(value)
        case .date(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .fields(let value): try container.encode(value)
        case .other(let name):
            throw EncodingError.invalidValue(
                self, EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "\(name) is not plain data"))
        }
    }
}

// MARK: - Comparing and reading in Swift

extension ScriptValue: Equatable {
    /// Compares two values. An integer and a float are equal if they represent the same number, like in Lua: 2 equals 2.0.
    ///
    /// Disfavored to avoid an ambiguity with ``LuaValue`` when a generic result is compared with a literal.
    @_disfavoredOverload
    public static func == (left: ScriptValue, right: ScriptValue) -> Bool {
        switch (left, right) {
        case (.nil, .nil), (.null, .null): true
        case (.boolean(let left), .boolean(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.integer(let integer), .number(let number)), (.number(let number), .integer(let integer)):
            Int64(exactly: number) == integer
        case (.string(let left), .string(let right)): left == right
        case (.bytes(let left), .bytes(let right)): left == right
        case (.date(let left), .date(let right)): left == right
        case (.list(let left), .list(let right)): left == right
        case (.fields(let left), .fields(let right)): left == right
        case (.other(let left), .other(let right)): left == right
        default: false
        }
    }
}

extension ScriptValue: Hashable {
    /// Hashes the value. Equal values such as 2 and 2.0 have the same hash.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .nil: hasher.combine(0)
        case .null: hasher.combine(1)
        case .boolean(let value): hasher.combine(value)
        case .integer(let value): hasher.combine(value)
        // A float that equals an integer must have the integer's hash.
        case .number(let value): if let integer = Int64(exactly: value) { hasher.combine(integer) } else { hasher.combine(value) }
        case .string(let value): hasher.combine(value)
        case .bytes(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value)
        case .list(let value): hasher.combine(value)
        case .fields(let value): hasher.combine(value)
        case .other(let value): hasher.combine(value)
        }
    }
}

extension ScriptValue {
    /// The boolean; `nil` for other types.
    public var bool: Bool? { if case .boolean(let value) = self { value } else { nil } }

    /// The integer, or a float without a fractional part as an integer; `nil` for other values.
    public var int: Int? {
        switch self {
        case .integer(let value): Int(exactly: value)
        case .number(let value): Int(exactly: value)
        default: nil
        }
    }

    /// The float, or an integer converted to a float; `nil` for other types.
    public var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// The text; `nil` for other types.
    public var string: String? { if case .string(let value) = self { value } else { nil } }

    /// The text, with U+FFFD in place of invalid UTF-8; `nil` for other types.
    package var text: String? {
        switch self {
        case .string(let value): value
        case .bytes(let value): String(decoding: value, as: UTF8.self)
        default: nil
        }
    }

    /// The bytes of a blob or a string; `nil` for other types.
    public var data: Data? {
        switch self {
        case .bytes(let value): value
        case .string(let value): Data(value.utf8)
        default: nil
        }
    }

    /// The date; `nil` for other types.
    public var date: Date? { if case .date(let value) = self { value } else { nil } }

    /// The elements of a list; `nil` for other types.
    public var array: [ScriptValue]? { if case .list(let elements) = self { elements } else { nil } }

    /// The fields. An empty list has no fields; for other types, `nil`.
    public var dictionary: [String: ScriptValue]? {
        switch self {
        case .fields(let fields): fields
        case .list([]): [:]
        default: nil
        }
    }

    /// Decodes the value with the rules for script results.
    ///
    /// - Throws: `LuaError` with code `conversion` if the value cannot be decoded as the type.
    public func decode<Value: Decodable>(as type: Value.Type = Value.self) throws(LuaError) -> Value {
        let state = try LuaState(libraries: [])
        return try LuaDecoder().decode(from: toLua(in: state))
    }
}

extension ScriptValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Creates `nil`.
    public init(nilLiteral: ()) { self = .nil }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: ScriptValue...) { self = .list(elements) }
    public init(dictionaryLiteral elements: (String, ScriptValue)...) {
        self = .fields(Dictionary(elements) { $1 })
    }
}

extension ScriptValue: CustomStringConvertible {
    public var description: String {
        switch self {
        case .nil: "nil"
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let value): "\"\(value)\""
        case .bytes(let value): value.count == 1 ? "1 byte" : "\(value.count) bytes"
        case .date(let value): "\(value)"
        case .list(let values): "{\(values.map(\.description).joined(separator: ", "))}"
        case .fields(let fields):
            "{\(fields.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)" }.joined(separator: ", "))}"
        case .other(let name): name
        }
    }
}
