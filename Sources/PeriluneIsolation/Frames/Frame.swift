/// What one process sends the other: a kind, the number of the request that it belongs to, and values.
///
/// In bytes: the length of what follows in four bytes, the kind in one, the number in four, and the values. Numbers begin with their
/// lowest byte.
package struct Frame: Hashable, Sendable {
    package let kind: UInt8
    package let request: UInt32
    package let values: [WireValue]

    package init(kind: UInt8, request: UInt32, values: [WireValue]) {
        (self.kind, self.request, self.values) = (kind, request, values)
    }
}

/// How large a frame may be. What is larger is refused by those who send it, and ends the connection of those who do so anyway: a
/// process whose script has taken it over could fill the memory of the other.
package struct FrameLimits: Sendable {
    /// How many bytes a frame may have behind its length.
    package var sizeInBytes = 16 << 20
    /// How many values it may have, those inside of others included.
    package var valueCount = 1 << 20
    /// How deep values may be nested.
    package var depth = 128

    package init() {}

    static let headerSizeInBytes = 5
}

/// A frame that cannot be sent, or that was not sent by Perilune.
package struct FrameError: Error, Hashable, CustomStringConvertible {
    package enum Reason: Hashable, Sendable {
        case tooLarge, tooManyValues, tooDeep, truncated, unknownTag, invalidText, trailingBytes
    }

    package let reason: Reason
    package let description: String

    init(_ reason: Reason, _ description: String) {
        (self.reason, self.description) = (reason, description)
    }
}

/// How a value is marked.
enum WireTag: UInt8 {
    case `nil`, null, no, yes, integer, number, string, blob, date, list, table, opaque
}
