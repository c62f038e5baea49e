internal import PeriluneRecords

/// A formatter for CSV with a header, and quotes only where needed; or for TSV, with tabs.
///
/// Lines end with LF, unlike in RFC 4180: with CRLF, a shell or `cut` would take the CR for a part of the last field. A field that contains
/// a line end is quoted.
///
/// NULL is an empty field, and empty text is `""`. Text keeps its stored bytes; blobs are written as `x'00ff'`, and booleans as 0 and 1 as
/// in SQLite, so that all values can be imported again.
struct CSVFormatter: ResultFormatter {
    private let columns: [String]
    private let separator: UInt8

    init(columns: [String], separator: UInt8 = UInt8(ascii: ",")) {
        self.columns = columns
        self.separator = separator
    }

    mutating func begin(_ output: inout [UInt8]) {
        write(columns.map { .text(Array($0.utf8)) }, to: &output)
    }

    mutating func write(_ row: [Cell], to output: inout [UInt8]) {
        for (index, cell) in row.enumerated() {
            if index > 0 { output.append(separator) }
            switch cell {
            case .null: break
            case .boolean(let value): output.append(value ? "1" : "0")
            case .text(let bytes): writeText(bytes, to: &output)
            case .integer, .real, .blob: output.append(cell.displayText)
            }
        }
        output.append(UInt8(ascii: "\n"))
    }

    private func writeText(_ bytes: [UInt8], to output: inout [UInt8]) {
        guard bytes.isEmpty || bytes.contains(where: needsQuotes) else {
            output += bytes
            return
        }
        output.append(bytes, inQuotes: UInt8(ascii: "\""))
    }

    private func needsQuotes(_ byte: UInt8) -> Bool {
        byte == separator || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\n")
            || byte == UInt8(ascii: "\r")
    }
}
