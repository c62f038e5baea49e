internal import PeriluneRecords

/// Values as SQL literals.
enum SQLLiteral {
    /// Appends a literal that reads back as the same value, even in SQLite's shell, which removes each CR before an LF.
    static func append(_ cell: Cell, to output: inout [UInt8]) {
        if case .text(let bytes) = cell, bytes.contains(0x0D) { return appendWithoutCR(bytes, to: &output) }
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

    private static func appendWithoutCR(_ text: [UInt8], to output: inout [UInt8]) {
        let mark = Array("\\r".utf8)
        guard text.firstRange(of: mark) == nil, !text.contains(0) else {
            output.append("CAST(")
            append(.blob(text), to: &output)
            return output.append(" AS TEXT)")
        }
        output.append("replace(")
        append(.text(text.flatMap { $0 == 0x0D ? mark : [$0] }), to: &output)
        output.append(",'\\r',char(13))")
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
