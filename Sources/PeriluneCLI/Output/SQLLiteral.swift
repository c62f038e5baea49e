internal import PeriluneRecords

/// Values as SQL literals.
enum SQLLiteral {
    /// Appends a literal that reads back as the same value, in a database of any encoding and in SQLite's shell, which removes each CR
    /// before an LF.
    static func append(_ cell: Cell, to output: inout [UInt8]) {
        if case .text(let bytes) = cell, bytes.contains(where: { $0 == 0 || $0 == 0x0D }),
            String(validating: bytes, as: UTF8.self) != nil
        {
            return appendReplacing(bytes, to: &output)
        }
        let value: Value =
            switch cell {
            case .null: .null
            case .integer(let value): .integer(value)
            case .boolean(let value): .boolean(value)
            case .real(let value): .real(value)
            case .text(let bytes): .text(bytes)
            case .blob(let bytes): .blob(bytes)
            }
        value.appendLiteral(to: &output)
    }

    /// Appends text in which marks replace NULs and CRs, with calls of `replace` that restore them. A CAST of a blob to TEXT would depend
    /// on the encoding of the database.
    private static func appendReplacing(_ text: [UInt8], to output: inout [UInt8]) {
        var text = text, calls: [UInt8] = []
        for (byte, letter) in [(UInt8(0), "0"), (0x0D, "r")] where text.contains(byte) {
            var mark = Array("\\\(letter)".utf8)
            while text.firstRange(of: mark) != nil { mark.insert(UInt8(ascii: "\\"), at: 0) }
            text = text.flatMap { $0 == byte ? mark : [$0] }
            output.append("replace(")
            // The mark inserted last must be replaced first.
            calls = Array(",'".utf8) + mark + Array("',char(\(byte)))".utf8) + calls
        }
        append(.text(text), to: &output)
        output += calls
    }
}

/// A formatter with one INSERT statement per row.
struct InsertFormatter: ResultFormatter {
    private let start: [UInt8]

    /// - Parameter table: The table named in the statements.
    init(columns: [String], table: String) {
        let names = JSONRowWriter.unique(columns).map(\.quotedName).joined(separator: ", ")
        start = Array("INSERT INTO \(table.quotedName) (\(names)) VALUES (".utf8)
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
