/// Values and names as SQL writes them.
enum SQLLiteral {
    /// A name in quotes.
    static func name(_ name: String) -> String {
        "\"" + name.replacing("\"", with: "\"\"") + "\""
    }

    /// A value that reads back as the same.
    static func append(_ cell: Cell, to output: inout [UInt8]) {
        switch cell {
        case .null: output.append("NULL")
        case .integer(.min): output.append("(-9223372036854775807 - 1)")
        case .integer(let value): output.append(String(value))
        case .boolean(let value): output.append(value ? "1" : "0")
        case .real(let value) where value.isInfinite: output.append(value < 0 ? "-9e999" : "9e999")
        case .real(let value): output.append(value.description)
        case .blob: output.append(cell.displayText)
        case .text(let bytes): append(text: bytes, to: &output)
        }
    }

    /// Text that has a NUL, or is not UTF-8, cannot stand in quotes.
    private static func append(text bytes: [UInt8], to output: inout [UInt8]) {
        guard !bytes.contains(0), String(validating: bytes, as: UTF8.self) != nil else {
            return output.append("CAST(\(CellText.hexadecimal(bytes)) AS TEXT)")
        }
        let quote = UInt8(ascii: "'")
        output.append(quote)
        for byte in bytes {
            if byte == quote { output.append(quote) }
            output.append(byte)
        }
        output.append(quote)
    }
}

/// An INSERT for each row.
struct InsertFormatter: ResultFormatter {
    private let start: [UInt8]

    /// - Parameter table: The table that the statements name.
    init(columns: [String], table: String) {
        let names = JSONRowWriter.unique(columns).map(SQLLiteral.name).joined(separator: ", ")
        start = Array("INSERT INTO \(SQLLiteral.name(table)) (\(names)) VALUES (".utf8)
    }

    mutating func write(_ row: [Cell], to output: inout [UInt8]) {
        output += start
        for (index, cell) in row.enumerated() {
            if index > 0 { output.append(", ") }
            SQLLiteral.append(cell, to: &output)
        }
        output.append(");\n")
    }
}
