/// An encoder of frames.
struct FrameEncoder {
    private let limits: FrameLimits
    private var bytes: [UInt8] = []
    private var count = 0

    /// - Throws: ``FrameError`` if the frame exceeds the limits.
    static func bytes(of frame: Frame, limits: FrameLimits) throws(FrameError) -> [UInt8] {
        var encoder = FrameEncoder(limits: limits)
        encoder.bytes.reserveCapacity(64)
        encoder.append(UInt32(0))
        encoder.bytes.append(frame.kind)
        encoder.append(frame.request)
        try encoder.append(contentsOf: frame.values, depth: 1)
        let size = encoder.bytes.count - 4
        try encoder.checkSize()
        for index in 0..<4 { encoder.bytes[index] = UInt8(truncatingIfNeeded: size >> (8 * index)) }
        return encoder.bytes
    }

    private init(limits: FrameLimits) {
        self.limits = limits
    }

    private mutating func append(contentsOf values: [WireValue], depth: Int) throws(FrameError) {
        append(UInt32(clamping: values.count))
        for value in values { try append(value, depth: depth) }
    }

    private mutating func append(_ value: WireValue, depth: Int) throws(FrameError) {
        count += 1
        guard count <= limits.valueCount else { throw FrameError(.tooManyValues, "more than \(limits.valueCount) values") }
        guard depth <= limits.depth else { throw FrameError(.tooDeep, "nested deeper than \(limits.depth) levels") }
        switch value {
        case .nil: append(.nil)
        case .null: append(.null)
        case .boolean(let value): append(value ? .yes : .no)
        case .integer(let value): append(.integer, UInt64(bitPattern: value))
        case .number(let value): append(.number, value.bitPattern)
        case .string(let value): try append(.string, value)
        case .blob(let value): try append(.blob, value)
        case .date(let value): append(.date, UInt64(bitPattern: value))
        case .opaque(let name): try append(.opaque, Array(name.utf8))
        case .list(let elements):
            append(.list)
            try append(contentsOf: elements, depth: depth + 1)
        case .table(let pairs):
            append(.table)
            append(UInt32(clamping: pairs.count))
            for pair in pairs {
                try append(pair.key, depth: depth + 1)
                try append(pair.value, depth: depth + 1)
            }
        }
    }

    private mutating func append(_ tag: WireTag) { bytes.append(tag.rawValue) }

    private mutating func append(_ tag: WireTag, _ number: UInt64) {
        append(tag)
        append(number)
    }

    private mutating func append(_ tag: WireTag, _ text: [UInt8]) throws(FrameError) {
        append(tag)
        append(UInt32(clamping: text.count))
        bytes += text
        try checkSize()
    }

    private mutating func append(_ number: some FixedWidthInteger) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    private func checkSize() throws(FrameError) {
        guard bytes.count - 4 <= limits.sizeInBytes else {
            throw FrameError(.tooLarge, "more than \(limits.sizeInBytes >> 20) MB")
        }
    }
}
