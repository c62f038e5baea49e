internal import CPeriluneRows
internal import Foundation

/// A sequence of values in the encoding of ``ChangesetWriter``. Each element contains the type, the length and the contents of one value.
struct ChangesetValues: Sequence, IteratorProtocol {
    private let bytes: UnsafeRawBufferPointer
    private var start = 0

    /// - Parameter bytes: The encoded values. The memory must remain valid while the sequence or its elements are used.
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    mutating func next() -> UnsafeRawBufferPointer? {
        guard start < bytes.count else { return nil }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
        let count = Self.contents(of: rest).upperBound
        start += count
        return UnsafeRawBufferPointer(rebasing: rest[..<count])
    }

    /// Returns the range of the contents of the first value.
    private static func contents(of bytes: UnsafeRawBufferPointer) -> Range<Int> {
        switch bytes[0] {
        case 1, 2: return 1..<9
        case 3, 4:
            var length = 0, offset = 1
            while bytes[offset] >= 0x80 {
                length = length << 7 | Int(bytes[offset] & 0x7F)
                offset += 1
            }
            length = length << 7 | Int(bytes[offset])
            return offset + 1..<offset + 1 + length
        default: return 1..<1
        }
    }

    /// Binds all values to the parameters of a prepared statement. SQLite does not copy the bytes, which must remain valid until new values
    /// are bound.
    func bind(to statement: OpaquePointer) {
        for (index, value) in enumerated() {
            let contents = UnsafeRawBufferPointer(rebasing: value[Self.contents(of: value)])
            func number() -> UInt64 { UInt64(bigEndian: contents.loadUnaligned(as: UInt64.self)) }
            let parameter = CInt(index + 1)
            switch value[0] {
            case 1: sqlite3_bind_int64(statement, parameter, Int64(bitPattern: number()))
            case 2: sqlite3_bind_double(statement, parameter, Double(bitPattern: number()))
            case 3:
                sqlite3_bind_text(
                    statement, parameter, contents.assumingMemoryBound(to: CChar.self).baseAddress, CInt(contents.count), nil)
            case 4: sqlite3_bind_blob(statement, parameter, contents.baseAddress, CInt(contents.count), nil)
            default: sqlite3_bind_null(statement, parameter)
            }
        }
    }
}

extension UnsafeRawBufferPointer {
    func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
        count == other.count && (isEmpty || memcmp(baseAddress!, other.baseAddress!, count) == 0)
    }
}
