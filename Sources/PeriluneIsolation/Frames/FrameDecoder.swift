/// A decoder of frames that validates every byte, because the sender may be a process that a script has taken over.
///
/// Each length is checked against the remaining bytes before memory is allocated, so a frame's memory is bounded by its size
/// and the limits.
struct FrameDecoder {
    private let bytes: ArraySlice<UInt8>
    private var position: Int
    private let limits: FrameLimits
    private var count = 0

    /// - Parameter bytes: The frame without its length field.
    /// - Throws: ``FrameError`` if the bytes are not a frame.
    static func frame(of bytes: ArraySlice<UInt8>, limits: FrameLimits) throws(FrameError) -> Frame {
        guard bytes.count <= limits.sizeInBytes else {
            throw FrameError(.tooLarge, "a frame has more than \(limits.sizeInBytes) bytes")
        }
        var decoder = FrameDecoder(bytes: bytes, limits: limits)
        let kind = try decoder.takeByte()
        let request = try decoder.take(UInt32.self)
        let values = try decoder.takeValues(depth: 1)
        guard decoder.position == bytes.endIndex else { throw FrameError(.trailingBytes, "a frame has bytes behind its values") }
        return Frame(kind: kind, request: request, values: values)
    }

    private init(bytes: ArraySlice<UInt8>, limits: FrameLimits) {
        self.bytes = bytes
        self.limits = limits
        position = bytes.startIndex
    }

    private var remaining: Int { bytes.endIndex - position }

    private mutating func takeValues(depth: Int) throws(FrameError) -> [WireValue] {
        let count = try takeCount(bytesEach: 1)
        var values: [WireValue] = []
        values.reserveCapacity(count)
        for _ in 0..<count { values.append(try takeValue(depth: depth)) }
        return values
    }

    private mutating func takeValue(depth: Int) throws(FrameError) -> WireValue {
        count += 1
        guard count <= limits.valueCount else {
            throw FrameError(.tooManyValues, "a frame has more than \(limits.valueCount) values")
        }
        guard depth <= limits.depth else { throw FrameError(.tooDeep, "a frame is nested deeper than \(limits.depth) levels") }
        let byte = try takeByte()
        guard let tag = WireTag(rawValue: byte) else {
            throw FrameError(.unknownTag, "a frame has a value of the unknown kind \(byte)")
        }
        switch tag {
        case .nil: return .nil
        case .null: return .null
        case .no: return .boolean(false)
        case .yes: return .boolean(true)
        case .integer: return .integer(Int64(bitPattern: try take(UInt64.self)))
        case .number: return .number(Double(bitPattern: try take(UInt64.self)))
        case .string: return .string(try takeBytes())
        case .blob: return .blob(try takeBytes())
        case .date: return .date(Int64(bitPattern: try take(UInt64.self)))
        case .list: return .list(try takeValues(depth: depth + 1))
        case .table: return .table(try takePairs(depth: depth + 1))
        case .opaque:
            guard let name = String(validating: try takeBytes(), as: UTF8.self) else {
                throw FrameError(.invalidText, "a frame has the name of a type that is not UTF-8")
            }
            return .opaque(name)
        }
    }

    private mutating func takePairs(depth: Int) throws(FrameError) -> [WireValue.Pair] {
        let count = try takeCount(bytesEach: 2)
        var pairs: [WireValue.Pair] = []
        pairs.reserveCapacity(count)
        for _ in 0..<count {
            let key = try takeValue(depth: depth)
            pairs.append(WireValue.Pair(key, try takeValue(depth: depth)))
        }
        return pairs
    }

    /// Reads the number of items in a list, and checks that the remaining bytes can hold that many.
    private mutating func takeCount(bytesEach size: Int) throws(FrameError) -> Int {
        let count = Int(try take(UInt32.self))
        guard count <= remaining / size else { throw FrameError(.truncated, "a frame ends before its values do") }
        guard count <= limits.valueCount else {
            throw FrameError(.tooManyValues, "a frame has more than \(limits.valueCount) values")
        }
        return count
    }

    private mutating func takeBytes() throws(FrameError) -> [UInt8] {
        let count = try take(UInt32.self)
        guard count <= remaining else { throw FrameError(.truncated, "a frame ends in the middle of a text") }
        defer { position += Int(count) }
        return Array(bytes[position..<position + Int(count)])
    }

    private mutating func takeByte() throws(FrameError) -> UInt8 {
        guard remaining >= 1 else { throw FrameError(.truncated, "a frame ends too early") }
        defer { position += 1 }
        return bytes[position]
    }

    private mutating func take<Number: FixedWidthInteger>(_ type: Number.Type) throws(FrameError) -> Number {
        let size = MemoryLayout<Number>.size
        guard remaining >= size else { throw FrameError(.truncated, "a frame ends in the middle of a number") }
        var number: Number = 0
        for index in 0..<size { number |= Number(truncatingIfNeeded: bytes[position + index]) << Number(8 * index) }
        position += size
        return number
    }
}

/// A buffer that collects received bytes and returns complete frames.
package struct FrameParser: Sendable {
    private let limits: FrameLimits
    private var buffer: [UInt8] = []
    /// The position in the buffer at which the next frame starts.
    private var start = 0

    package init(limits: FrameLimits = FrameLimits()) {
        self.limits = limits
    }

    /// The number of received bytes that ``next()`` has not returned yet.
    package var waitingByteCount: Int { buffer.count - start }

    package mutating func add(_ bytes: some Sequence<UInt8>) {
        if start > 0 {
            buffer.removeSubrange(..<start)
            start = 0
        }
        buffer.append(contentsOf: bytes)
    }

    /// Returns the next frame, or `nil` if more bytes are needed.
    ///
    /// - Throws: ``FrameError`` if the bytes are not a valid frame. The stream cannot be decoded any further.
    package mutating func next() throws(FrameError) -> Frame? {
        guard waitingByteCount >= 4 else { return nil }
        var size = 0
        for index in 0..<4 { size |= Int(buffer[start + index]) << (8 * index) }
        // Rejects an oversized frame before its body is received.
        guard size <= limits.sizeInBytes else { throw FrameError(.tooLarge, "a frame has more than \(limits.sizeInBytes) bytes") }
        guard waitingByteCount >= 4 + size else { return nil }
        let body = buffer[start + 4..<start + 4 + size]
        start += 4 + size
        return try FrameDecoder.frame(of: body, limits: limits)
    }
}

extension Frame {
    /// Returns the encoded frame.
    ///
    /// - Throws: ``FrameError`` if the frame exceeds the limits.
    package func encoded(limits: FrameLimits = FrameLimits()) throws(FrameError) -> [UInt8] {
        try FrameEncoder.bytes(of: self, limits: limits)
    }
}
