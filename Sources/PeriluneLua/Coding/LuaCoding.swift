/// The path to a value inside the value being encoded or decoded. It is a linked list that starts at the innermost key, so
/// appending a key is cheap.
final class CodingPath {
    private let parent: CodingPath?
    private let key: (any CodingKey)?
    /// The number of keys and types that enclose the value.
    private let depth: Int

    init() {
        parent = nil
        key = nil
        depth = 0
    }

    private init(parent: CodingPath, key: (any CodingKey)?) {
        self.parent = parent
        self.key = key
        depth = parent.depth + 1
    }

    func appending(_ key: any CodingKey) -> CodingPath { CodingPath(parent: self, key: key) }

    /// Returns the same path with a greater depth, for a type that is encoded as another type and therefore adds no key.
    func deeper() -> CodingPath { CodingPath(parent: self, key: nil) }

    /// Whether the nesting limit is exceeded, which ends the recursion through cyclic tables and objects.
    var isTooDeep: Bool { depth > 2 * Self.maximumLevels }

    private static let maximumLevels = 100
    static var depthMessage: String { "nested deeper than \(maximumLevels) levels" }

    var keys: [any CodingKey] {
        var keys: [any CodingKey] = []
        var path: CodingPath? = self
        while let current = path {
            if let key = current.key { keys.append(key) }
            path = current.parent
        }
        return keys.reversed()
    }
}

/// The key of a list element. The index counts from 0, as in `Codable`, but error messages show it counting from 1, as in Lua.
struct IndexKey: CodingKey {
    let index: Int

    init(_ index: Int) { self.index = index }
    init?(stringValue: String) { nil }
    init?(intValue: Int) { self.init(intValue) }

    var stringValue: String { "\(index)" }
    var intValue: Int? { index }
}

struct NamedKey: CodingKey {
    let stringValue: String

    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.init(stringValue) }
    init?(intValue: Int) { nil }

    var intValue: Int? { nil }
}

/// A dictionary with string keys, which stay strings in Lua even if they look like numbers.
protocol StringKeyedDictionary {}
extension Dictionary: StringKeyedDictionary where Key == String {}

/// A dictionary whose keys are integers.
protocol IntegerKeyedDictionary {}
extension Dictionary: IntegerKeyedDictionary where Key == Int {}

extension LuaError {
    /// Wraps an error that a type threw during encoding or decoding.
    init(coding error: any Error) {
        switch error {
        case let error as LuaError:
            self = error
        case let EncodingError.invalidValue(_, context):
            self.init(.conversion, Self.message(context.debugDescription, at: context.codingPath))
            underlying = error
        case let error as DecodingError:
            self.init(.conversion, Self.message(of: error))
            underlying = error
        default:
            self.init(.conversion, ErrorMessage.of(error))
            underlying = error
        }
    }

    private static func message(of error: DecodingError) -> String {
        switch error {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            message(context.debugDescription, at: context.codingPath)
        case .keyNotFound(let key, let context):
            message(context.debugDescription, at: context.codingPath + [key])
        @unknown default: String(describing: error)
        }
    }

    /// Returns a message with its path: `orders[2].total: expected a number, got a string`.
    private static func message(_ message: String, at path: [any CodingKey]) -> String {
        guard !path.isEmpty else { return message }
        // The path to a value that contains itself is long, so only its beginning and end are shown.
        return path.count <= 12
            ? "\(text(of: path)): \(message)" : "\(text(of: path.prefix(6))) ... \(text(of: path.suffix(2))): \(message)"
    }

    private static func text(of path: some Sequence<any CodingKey>) -> String {
        var text = ""
        for key in path {
            if let key = key as? IndexKey {
                text += "[\(key.index + 1)]"
            } else if let integer = key.intValue {
                text += "[\(integer)]"
            } else {
                text += (text.isEmpty ? "" : ".") + key.stringValue
            }
        }
        return text
    }
}

// MARK: - Coding of Lua values

extension LuaString: Codable {
    /// Decodes a Lua string from a ``LuaDecoder``, or text from any other decoder.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes a Lua string for a ``LuaEncoder``. Other encoders receive text in which invalid UTF-8 is replaced.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension LuaValue: Codable {
    /// Returns the Lua value of a ``LuaDecoder`` unchanged. Other decoders throw.
    public init(from decoder: any Decoder) throws {
        throw LuaError(.conversion, "only LuaDecoder can decode a LuaValue")
    }

    /// Passes the handle through a ``LuaEncoder`` unchanged. Other encoders throw.
    public func encode(to encoder: any Encoder) throws {
        throw LuaError(.conversion, "only LuaEncoder can encode a LuaValue")
    }
}

extension LuaTable: Codable {
    /// Returns the Lua value of a ``LuaDecoder`` unchanged. Other decoders throw.
    public init(from decoder: any Decoder) throws {
        throw LuaError(.conversion, "only LuaDecoder can decode a LuaTable")
    }

    /// Passes the handle through a ``LuaEncoder`` unchanged. Other encoders throw.
    public func encode(to encoder: any Encoder) throws {
        throw LuaError(.conversion, "only LuaEncoder can encode a LuaTable")
    }
}

extension LuaFunction: Codable {
    /// Returns the Lua value of a ``LuaDecoder`` unchanged. Other decoders throw.
    public init(from decoder: any Decoder) throws {
        throw LuaError(.conversion, "only LuaDecoder can decode a LuaFunction")
    }

    /// Passes the handle through a ``LuaEncoder`` unchanged. Other encoders throw.
    public func encode(to encoder: any Encoder) throws {
        throw LuaError(.conversion, "only LuaEncoder can encode a LuaFunction")
    }
}
