/// CSV by RFC 4180: a header, CRLF after each line, fields quoted where needed.
///
/// NULL is an empty field, the empty text is `""`; text is written byte by byte as stored, blobs as `x'00ff'`, booleans
/// as SQLite stores them, 0 and 1, so that they can be imported again.
struct CSVFormatter: ResultFormatter {
    private let columns: [String]

    init(columns: [String]) {
        self.columns = columns
    }

    mutating func begin(_ output: inout [UInt8]) {
        write(columns.map { .text(Array($0.utf8)) }, to: &output)
    }

    mutating func write(_ row: [Cell], to output: inout [UInt8]) {
        for (index, cell) in row.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            switch cell {
            case .null: break
            case .boolean(let value): output.append(value ? "1" : "0")
            case .text(let bytes): writeText(bytes, to: &output)
            case .integer, .real, .blob: output.append(cell.displayText)
            }
        }
        output.append("\r\n")
    }

    private func writeText(_ bytes: [UInt8], to output: inout [UInt8]) {
        guard bytes.isEmpty || bytes.contains(where: Self.needsQuotes) else {
            output += bytes
            return
        }
        let quote = UInt8(ascii: "\"")
        output.append(quote)
        for byte in bytes {
            if byte == quote { output.append(quote) }
            output.append(byte)
        }
        output.append(quote)
    }

    private static func needsQuotes(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\n")
            || byte == UInt8(ascii: "\r")
    }
}
