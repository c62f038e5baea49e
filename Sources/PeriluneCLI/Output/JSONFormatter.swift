internal import PeriluneRecords

/// A formatter for a JSON array with one object per line.
struct JSONFormatter: ResultFormatter {
    private let writer: JSONRowWriter
    private var isFirst = true

    init(columns: [String]) {
        writer = JSONRowWriter(columns: columns)
    }

    mutating func begin(_ output: inout [UInt8]) {
        output.append("[")
    }

    mutating func write(_ row: [Cell], to output: inout [UInt8]) {
        if !isFirst { output.append(",\n") }
        isFirst = false
        writer.write(row, to: &output)
    }

    mutating func end(_ output: inout [UInt8]) {
        output.append("]\n")
    }
}

/// A formatter for JSON lines, with one object per line.
struct JSONLinesFormatter: ResultFormatter {
    private let writer: JSONRowWriter

    init(columns: [String]) {
        writer = JSONRowWriter(columns: columns)
    }

    mutating func write(_ row: [Cell], to output: inout [UInt8]) {
        writer.write(row, to: &output)
        output.append(UInt8(ascii: "\n"))
    }
}

/// A writer of rows as JSON objects without loss of information.
///
/// Integers keep all digits, and infinite numbers are `9e999` and `-9e999`, as in SQLite's JSON functions. A blob is
/// `{"$blob":"<base64>"}`, and text that is not UTF-8 is `{"$text":"<base64>"}`. A second column with the same name is called
/// `name_2`.
struct JSONRowWriter {
    /// The column names as JSON keys, each with quotes and a colon.
    private let keys: [[UInt8]]

    init(columns: [String]) {
        keys = Self.unique(columns).map { name in
            var key: [UInt8] = []
            JSONText.append(name, to: &key)
            key.append(UInt8(ascii: ":"))
            return key
        }
    }

    func write(_ row: [Cell], to output: inout [UInt8]) {
        output.append(UInt8(ascii: "{"))
        for (index, (key, cell)) in zip(keys, row).enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            output += key
            write(cell, to: &output)
        }
        output.append(UInt8(ascii: "}"))
    }

    private func write(_ cell: Cell, to output: inout [UInt8]) {
        switch cell {
        case .null: output.append("null")
        case .integer(let value): output.append(String(value))
        case .real(let value): JSONText.append(value, to: &output)
        case .boolean(let value): output.append(value ? "true" : "false")
        case .blob(let bytes): write(bytes, taggedBy: "$blob", to: &output)
        case .text(let bytes):
            if String(validating: bytes, as: UTF8.self) == nil {
                write(bytes, taggedBy: "$text", to: &output)
            } else {
                JSONText.append(text: bytes, to: &output)
            }
        }
    }

    private func write(_ bytes: [UInt8], taggedBy tag: String, to output: inout [UInt8]) {
        output.append("{\"\(tag)\":\"")
        output += CellText.base64(bytes)
        output.append("\"}")
    }

    /// Returns the names with numbers appended to duplicates. Ignores case, because the names may become column names.
    static func unique(_ names: [String]) -> [String] {
        // Original names have precedence: a, a, a_2 become a, a_3, a_2.
        var taken = Set(names.map(\.foldedName))
        var seen: Set<String> = []
        return names.map { name in
            guard !seen.insert(name.foldedName).inserted else { return name }
            var number = 2
            while !taken.insert("\(name)_\(number)".foldedName).inserted { number += 1 }
            return "\(name)_\(number)"
        }
    }
}
