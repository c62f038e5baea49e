internal import Foundation

/// A buffered reader of single bytes.
struct ByteScanner {
    private let fill: (UnsafeMutableRawBufferPointer) throws -> Int
    private var buffer: [UInt8]
    private var position = 0
    private var end = 0

    /// - Parameter fill: A closure that copies the next bytes into a buffer and returns their number; 0 at the end.
    init(_ fill: @escaping (UnsafeMutableRawBufferPointer) throws -> Int) {
        self.fill = fill
        buffer = [UInt8](repeating: 0, count: 64 << 10)
    }

    init(_ bytes: StoredBytes) {
        var offset = 0
        self.init { buffer in
            let count = try bytes.copy(from: offset, into: buffer)
            offset += count
            return count
        }
    }

    /// Reads the next byte; `nil` at the end.
    @inline(__always)
    mutating func next() throws -> UInt8? {
        if position == end, try !refill() { return nil }
        defer { position += 1 }
        return buffer[position]
    }

    /// Returns the next byte without consuming it; `nil` at the end.
    mutating func peek() throws -> UInt8? {
        if position == end, try !refill() { return nil }
        return buffer[position]
    }

    /// Skips a number of bytes. Returns `false` if the source has fewer bytes.
    mutating func skip(_ count: Int) throws -> Bool {
        var count = count
        while count > end - position {
            count -= end - position
            guard try refill() else { return false }
        }
        position += count
        return true
    }

    /// Passes the next buffered bytes to a closure, without copying them.
    ///
    /// - Parameter body: A closure that receives at least one byte and returns the number of bytes to consume.
    /// - Returns: `false` at the end.
    mutating func takePiece(_ body: (UnsafeRawBufferPointer) throws -> Int) throws -> Bool {
        if position == end, try !refill() { return false }
        let taken = try buffer.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[position..<end])) }
        position += taken
        return true
    }

    private mutating func refill() throws -> Bool {
        position = 0
        end = 0
        end = try buffer.withUnsafeMutableBytes { try fill($0) }
        return end > 0
    }
}
