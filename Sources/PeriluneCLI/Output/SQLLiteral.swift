internal import PeriluneRecords

/// Values as SQL writes them.
enum SQLLiteral {
    /// A value that reads back as the same.
    static func append(_ cell: Cell, to output: inout [UInt8]) {
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
}

/// An INSERT for each row.
struct InsertFormatter: ResultFormatter {
    private let start: [UInt8]

    /// - Parameter table: The table that the statements name.
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
