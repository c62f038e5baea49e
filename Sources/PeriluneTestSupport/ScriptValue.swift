/// A value that a script has given, to be compared: what is no plain data counts as ``none``.
public enum ScriptValue: Sendable, Equatable {
    case none
    case boolean(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case list([ScriptValue])
    case fields([String: ScriptValue])
}

extension ScriptValue: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode(Double.self) {
            // 2 and 2.0 are one number: a float that is whole counts as an integer.
            self = (try? container.decode(Int64.self)).map { .integer($0) } ?? .number(value)
        } else if let value = try? container.decode([ScriptValue].self) {
            self = .list(value)
        } else if let value = try? container.decode([String: ScriptValue].self) {
            self = .fields(value)
        } else {
            self = .none
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .none: try container.encodeNil()
        case .boolean(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .list(let value): try container.encode(value)
        case .fields(let value): try container.encode(value)
        }
    }
}

extension ScriptValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(nilLiteral: ()) { self = .none }
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
        case .none: "nil"
        case .boolean(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .number(let value): "\(value)"
        case .string(let value): "\"\(value)\""
        case .list(let values): "{\(values.map(\.description).joined(separator: ", "))}"
        case .fields(let fields):
            "{\(fields.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)" }.joined(separator: ", "))}"
        }
    }
}
