/// A message between the two processes: a kind, the number of the request that it belongs to, and values.
///
/// Encoded as the length of the rest (four bytes), the kind (one), the number (four) and the values. Numbers are little-endian.
package struct Frame: Hashable, Sendable {
    package let kind: UInt8
    package let request: UInt32
    package let values: [WireValue]

    package init(kind: UInt8, request: UInt32, values: [WireValue]) {
        (self.kind, self.request, self.values) = (kind, request, values)
    }
}

/// The size limits of a frame.
///
/// The sender refuses a larger frame. The receiver closes the connection on one, because a process that a script has taken over could
/// fill the memory of the other.
package struct FrameLimits: Sendable {
    /// The largest number of bytes after the length.
    package var sizeInBytes = 16 << 20
    /// The largest number of values, nested values included.
    package var valueCount = 1 << 20
    /// The deepest nesting of values.
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

/// The byte that precedes each encoded value.
enum WireTag: UInt8 {
    case `nil`, null, no, yes, integer, number, string, blob, date, list, table, opaque
}
