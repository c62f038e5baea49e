internal import CPeriluneRows
internal import Foundation
public import GRDB

/// A value with its SQLite storage class.
///
/// In JSON, a blob is `{"$blob": "<base64>"}`, text that is not valid UTF-8 is `{"$text": "<base64>"}`, and an infinite number is
/// `{"$real": "inf"}` or `{"$real": "-inf"}`.
@nonexhaustive
public enum StoredValue: Sendable, Hashable {
    /// NULL.
    case null
    /// An INTEGER.
    case integer(Int64)
    /// A REAL.
    case real(Double)
    /// Text, which may not be valid UTF-8.
    case text([UInt8])
    /// A BLOB.
    case blob([UInt8])

    /// Copies an `sqlite3_value`.
    init(_ value: OpaquePointer) {
        switch sqlite3_value_type(value) {
        case SQLITE_INTEGER: self = .integer(sqlite3_value_int64(value))
        case SQLITE_FLOAT: self = .real(sqlite3_value_double(value))
        case SQLITE_TEXT:
            let start = sqlite3_value_text(value)
            self = .text(Self.bytes(start, count: sqlite3_value_bytes(value)))
        case SQLITE_BLOB:
            let start = sqlite3_value_blob(value)?.assumingMemoryBound(to: UInt8.self)
            self = .blob(Self.bytes(start, count: sqlite3_value_bytes(value)))
        default: self = .null
        }
    }

    /// Copies a column of the current row of a statement.
    init(_ statement: OpaquePointer, column: Int) {
        self.init(sqlite3_column_value(statement, CInt(column)))
    }

    private static func bytes(_ start: UnsafePointer<UInt8>?, count: CInt) -> [UInt8] {
        Array(UnsafeBufferPointer(start: start, count: start == nil ? 0 : Int(count)))
    }

    /// Binds the value to a parameter of a statement. Text is bound as raw bytes, because it may be invalid UTF-8.
    func bind(to statement: OpaquePointer, at index: CInt) {
        // The macro `SQLITE_TRANSIENT`, which Swift cannot import. It makes SQLite copy the bytes.
        let copying = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        switch self {
        case .null: sqlite3_bind_null(statement, index)
        case .integer(let value): sqlite3_bind_int64(statement, index, value)
        case .real(let value): sqlite3_bind_double(statement, index, value)
        case .text(let bytes):
            bytes.withUnsafeBytes { buffer in
                // The address of an empty buffer may be `nil`, which SQLite would bind as NULL.
                let start = buffer.isEmpty ? nil : buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
                _ =
                    start.map { sqlite3_bind_text(statement, index, $0, CInt(buffer.count), copying) }
                    ?? sqlite3_bind_text(statement, index, "", 0, copying)
            }
        case .blob(let bytes):
            if bytes.isEmpty {
                sqlite3_bind_zeroblob(statement, index, 0)
            } else {
                sqlite3_bind_blob(statement, index, bytes, CInt(bytes.count), copying)
            }
        }
    }

    /// Creates a stored value from a GRDB value.
    public init(_ value: DatabaseValue) {
        switch value.storage {
        case .null: self = .null
        case .int64(let value): self = .integer(value)
        case .double(let value): self = .real(value)
        case .string(let value): self = .text(Array(value.utf8))
        case .blob(let value): self = .blob(Array(value))
        }
    }

    /// The text, in which replacement characters replace invalid UTF-8; `nil` if the value is not text.
    public var string: String? {
        if case .text(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { nil }
    }

    var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let value): value.databaseValue
        case .real(let value): value.databaseValue
        case .text(let bytes): String(decoding: bytes, as: UTF8.self).databaseValue
        case .blob(let bytes): Data(bytes).databaseValue
        }
    }
}

extension StoredValue: Comparable {
    /// Compares values in SQLite's order: NULL, numbers, text, blobs.
    public static func < (left: StoredValue, right: StoredValue) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left < right
        case (.integer(let left), .real(let right)): Double(left) < right
        case (.real(let left), .integer(let right)): left < Double(right)
        case (.real(let left), .real(let right)): left < right
        case (.text(let left), .text(let right)), (.blob(let left), .blob(let right)):
            left.lexicographicallyPrecedes(right)
        default: left.rank < right.rank
        }
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .integer, .real: 1
        case .text: 2
        case .blob: 3
        }
    }
}

extension StoredValue: Codable {
    private enum Tag: String, CodingKey {
        case blob = "$blob"
        case text = "$text"
        case real = "$real"
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .integer(let value): try value.encode(to: encoder)
        case .real(let value) where value.isFinite: try value.encode(to: encoder)
        case .real(let value): try Self.encode(value < 0 ? "-inf" : "inf", as: .real, to: encoder)
        case .blob(let bytes): try Self.encode(Data(bytes).base64EncodedString(), as: .blob, to: encoder)
        case .text(let bytes):
            if let text = String(validating: bytes, as: UTF8.self) {
                try text.encode(to: encoder)
            } else {
                try Self.encode(Data(bytes).base64EncodedString(), as: .text, to: encoder)
            }
        }
    }

    private static func encode(_ text: String, as tag: Tag, to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Tag.self)
        try container.encode(text, forKey: tag)
    }

    public init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: Tag.self), let tag = container.allKeys.first {
            let text = try container.decode(String.self, forKey: tag)
            if tag == .real {
                self = .real(text == "-inf" ? -Double.infinity : Double.infinity)
                return
            }
            guard let data = Data(base64Encoded: text) else {
                throw DecodingError.dataCorruptedError(forKey: tag, in: container, debugDescription: "invalid base64")
            }
            self = tag == .blob ? .blob(Array(data)) : .text(Array(data))
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .real(value)
        } else {
            self = .text(Array(try container.decode(String.self).utf8))
        }
    }
}
