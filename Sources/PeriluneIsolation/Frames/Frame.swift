/// A message between the host and a worker process: a kind, the number of its request, and values.
///
/// The encoding is the number of bytes that follow the length (four bytes), the kind (one byte), the request (four bytes) and the values.
/// Numbers are little-endian.
package struct Frame: Hashable, Sendable {
    package let kind: UInt8
    package let request: UInt32
    package let values: [WireValue]

    package init(kind: UInt8, request: UInt32, values: [WireValue]) {
        (self.kind, self.request, self.values) = (kind, request, values)
    }
}

/// The limits on the size of a frame.
///
/// A sender refuses to send a larger frame. A receiver closes the connection if it receives one: a worker that a script has taken over
/// could otherwise fill the host's memory.
package struct FrameLimits: Sendable {
    /// The maximum number of bytes after the length.
    package var sizeInBytes = 16 << 20
    /// The maximum number of values, including nested values.
    package var valueCount = 1 << 20
    /// The maximum nesting depth of values.
    package var depth = 128

    package init() {}

    static let headerSizeInBytes = 5
}

/// The error of a frame that cannot be sent, or of received bytes that are not a valid frame.
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
