/// A Lua string, which is a sequence of arbitrary bytes. It may contain NUL bytes and need not be valid UTF-8.
public struct LuaString: Hashable, Sendable {
    /// The bytes of the string.
    public var bytes: [UInt8]

    /// Creates a string from bytes.
    public init(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
    }

    /// Creates a string from the UTF-8 encoding of a Swift string.
    public init(_ string: String) {
        bytes = Array(string.utf8)
    }

    /// The text; `nil` if the bytes are not valid UTF-8.
    public var string: String? {
        String(validating: bytes, as: UTF8.self)
    }
}

extension LuaString: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) {
        self.init(value)
    }
}

extension LuaString: CustomStringConvertible {
    /// The text, with U+FFFD in place of invalid UTF-8.
    public var description: String {
        String(decoding: bytes, as: UTF8.self)
    }
}
