/// Reads values that ``ChangesetWriter`` has written.
enum ChangesetValues {
    /// Where each of them stands.
    static func ranges(in bytes: [UInt8]) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        var start = 0
        while start < bytes.count {
            let end = contents(of: bytes[start...]).endIndex
            ranges.append(start..<end)
            start = end
        }
        return ranges
    }

    /// The contents of the first value, without its type and length.
    static func contents(of bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var start = bytes.startIndex + 1
        switch bytes.first {
        case 1, 2: return bytes[start..<start + 8]
        case 3, 4:
            var length = 0
            while bytes[start] >= 0x80 {
                length = length << 7 | Int(bytes[start] & 0x7F)
                start += 1
            }
            length = length << 7 | Int(bytes[start])
            return bytes[start + 1..<start + 1 + length]
        default: return bytes[start..<start]
        }
    }
}

extension PreviewValue {
    /// Reads one that ``ChangesetWriter`` has written.
    init(encoded bytes: ArraySlice<UInt8>) {
        let contents = ChangesetValues.contents(of: bytes)
        func number() -> UInt64 { contents.reduce(0) { $0 << 8 | UInt64($1) } }
        switch bytes.first {
        case 1: self = .integer(Int64(bitPattern: number()))
        case 2: self = .real(Double(bitPattern: number()))
        case 3: self = .text(Array(contents))
        case 4: self = .blob(Array(contents))
        default: self = .null
        }
    }
}
