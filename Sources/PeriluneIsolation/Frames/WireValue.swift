/// A value that is sent between processes: plain Lua data, or a placeholder for a value that cannot be sent.
package indirect enum WireValue: Hashable, Sendable {
    case `nil`
    /// The value of `perilune.null`.
    case null
    case boolean(Bool)
    case integer(Int64)
    case number(Double)
    /// Bytes, which need not be UTF-8.
    case string([UInt8])
    case blob([UInt8])
    /// Microseconds since 1970.
    case date(Int64)
    /// A table with values at the keys 1, 2, 3, ...
    case list([WireValue])
    case table([Pair])
    /// A placeholder for a value that cannot leave its process; the text describes its type: "a function".
    case opaque(String)

    /// A key of a table and its value.
    package struct Pair: Hashable, Sendable {
        package let key: WireValue
        package let value: WireValue

        package init(_ key: WireValue, _ value: WireValue) {
            (self.key, self.value) = (key, value)
        }
    }

    /// Returns a string value with the UTF-8 bytes of a text.
    package static func text(_ text: String) -> WireValue { .string(Array(text.utf8)) }
}

extension WireValue {
    /// An estimate of the bytes of memory that the decoded value occupies, which can be many times its encoded size.
    package var sizeInMemory: Int {
        let own = 64
        return switch self {
        case .nil, .null, .boolean, .integer, .number, .date: own
        case .string(let bytes), .blob(let bytes): own + bytes.count
        case .opaque(let name): own + name.utf8.count
        case .list(let elements): elements.reduce(own) { $0 + $1.sizeInMemory }
        case .table(let pairs): pairs.reduce(own) { $0 + $1.key.sizeInMemory + $1.value.sizeInMemory }
        }
    }
}

// MARK: - Reading messages

extension WireValue {
    /// The string as text, with invalid UTF-8 replaced; `nil` for values of other types.
    package var text: String? {
        if case .string(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { nil }
    }

    package var bytes: [UInt8]? {
        if case .string(let bytes) = self { bytes } else { nil }
    }

    package var integerValue: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    package var booleanValue: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    package var elements: [WireValue]? {
        if case .list(let elements) = self { elements } else { nil }
    }

    /// The value of a field, or `nil` if the value is not a table with this field.
    package subscript(field: String) -> WireValue? {
        guard case .table(let pairs) = self else { return nil }
        return pairs.first { $0.key == .text(field) }?.value
    }

    /// Returns a table with these fields, leaving out fields whose value is `nil`.
    package static func fields(_ fields: [(String, WireValue?)]) -> WireValue {
        .table(fields.compactMap { name, value in value.map { Pair(.text(name), $0) } })
    }
}
