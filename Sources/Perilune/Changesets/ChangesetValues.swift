internal import CPeriluneRows
internal import Foundation

/// The values that ``ChangesetWriter`` has written, one by one, with their types and lengths.
struct ChangesetValues: Sequence, IteratorProtocol {
    private let bytes: UnsafeRawBufferPointer
    private var start = 0

    /// - Parameter bytes: Must outlast the sequence and what it gives.
    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    mutating func next() -> UnsafeRawBufferPointer? {
        guard start < bytes.count else { return nil }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[start...])
        let count = Self.contents(of: rest).upperBound
        start += count
        return UnsafeRawBufferPointer(rebasing: rest[..<count])
    }

    /// The range of the first value's contents.
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

    /// Binds all to the parameters of a statement, which uses them where they are, until it is bound again.
    func bind(to statement: OpaquePointer) {
        for (index, value) in enumerated() {
            let contents = UnsafeRawBufferPointer(rebasing: value[Self.contents(of: value)])
            func number() -> UInt64 { UInt64(bigEndian: contents.loadUnaligned(as: UInt64.self)) }
            let parameter = CInt(index + 1)
            switch value[0] {
            case 1: sqlite3_bind_int64(statement, parameter, Int64(bitPattern: number()))
            case 2: sqlite3_bind_double(statement, parameter, Double(bitPattern: number()))
            case 3: sqlite3_bind_text(statement, parameter, contents.assumingMemoryBound(to: CChar.self).baseAddress, CInt(contents.count), nil)
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
