internal import Foundation
internal import PeriluneRecords

/// Rows in JSON: a list of objects, or one object per line.
///
/// - SeeAlso: RFC 8259; jsonlines.org.
struct JSONRows {
    /// A syntax error or an unusable value in the text.
    struct Flaw: Error {
        let line: Int
        let message: String
    }

    struct Row {
        /// The first line.
        let line: Int
        /// The bytes of the row in the text.
        let range: Range<Int>
        var fields: [(name: String, value: Cell)] = []
        /// Why the line cannot be read; `nil` for an object.
        var flaw: String?
    }

    /// The objects, and the lines that cannot be read.
    private(set) var rows: [Row] = []
    /// Whether the objects are in a list, where several may share a line.
    private(set) var isList = false
    /// The names of all fields in the order of their first appearance. Names that differ only in case are one column.
    private(set) var columns: [String] = []
    private let bytes: [UInt8]
    private var position = 0
    private var line = 1
    /// The line in which the token before the last blanks ends, and the end of these blanks.
    private var blanks = (line: 1, end: -1)
    /// The beginning of the last row.
    private var rowStart = (line: 1, position: 0)
    private var known: Set<String> = []

    /// - Parameter isLines: Whether each line has its own object, so that the lines after one that cannot be read are still used.
    init(_ bytes: [UInt8], isLines: Bool = false) throws {
        self.bytes = bytes
        skipBlanks()
        if peek == UInt8(ascii: "[") {
            isList = true
            try takeList { rows in try rows.takeRow() }
        } else {
            while peek != 0 {
                do {
                    try takeRow()
                } catch let flaw as Flaw where isLines {
                    setAsideLine(flaw)
                }
                skipBlanks()
            }
            if let first = rows.first, let message = first.flaw, rows.allSatisfy({ $0.flaw != nil }) {
                throw Flaw(line: first.line, message: message)
            }
        }
        skipBlanks()
        if position < bytes.count { throw flaw("expected the end of the text") }
    }

    /// Returns whether any row has a field with this name.
    func has(_ column: String) -> Bool { known.contains(column.foldedName) }

    // MARK: - Helpers

    private var peek: UInt8 { position < bytes.count ? bytes[position] : 0 }

    private func flaw(_ message: String) -> Flaw { Flaw(line: line, message: message) }

    private mutating func skipBlanks() {
        if position != blanks.end { blanks.line = line }
        defer { blanks.end = position }
        while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) {
            if bytes[position] == 0x0A { line += 1 }
            position += 1
        }
    }

    private mutating func expect(_ sign: Unicode.Scalar) throws {
        skipBlanks()
        // The sign is missing where the token before the blanks ends.
        guard peek == UInt8(ascii: sign) else { throw Flaw(line: blanks.line, message: "expected \(sign)") }
        position += 1
    }

    private mutating func takeList(_ element: (inout JSONRows) throws -> Void) throws {
        try expect("[")
        skipBlanks()
        if peek == UInt8(ascii: "]") { return position += 1 }
        while true {
            try element(&self)
            skipBlanks()
            if peek == UInt8(ascii: ",") { position += 1 } else { break }
        }
        try expect("]")
    }

    private mutating func takeRow() throws {
        skipBlanks()
        let start = line, place = position
        rowStart = (line, position)
        guard peek == UInt8(ascii: "{") else { throw flaw("expected an object with columns and values") }
        var fields: [(name: String, value: Cell)] = []
        try takeObject { rows, name in fields.append((name, try rows.takeValue(depth: 0))) }
        for (name, _) in fields where known.insert(name.foldedName).inserted { columns.append(name) }
        rows.append(Row(line: start, range: place..<position, fields: fields))
    }

    /// Adds the line in which a row begins as one that cannot be read, with the objects before it in this line, and continues after it.
    private mutating func setAsideLine(_ flaw: Flaw) {
        let end = bytes[rowStart.position...].firstIndex(of: 0x0A) ?? bytes.count
        var start = rowStart.position
        while let last = rows.last, last.flaw == nil, last.line == rowStart.line { start = rows.removeLast().range.lowerBound }
        let message = start == rowStart.position ? flaw.message : "expected the end of the line after the object"
        rows.append(Row(line: rowStart.line, range: start..<min(end + 1, bytes.count), flaw: message))
        (position, line) = (end, rowStart.line)
    }

    private mutating func takeObject(_ field: (inout JSONRows, String) throws -> Void) throws {
        try expect("{")
        skipBlanks()
        if peek == UInt8(ascii: "}") { return position += 1 }
        while true {
            skipBlanks()
            let name = try takeString()
            try expect(":")
            try field(&self, String(decoding: name, as: UTF8.self))
            skipBlanks()
            if peek == UInt8(ascii: ",") { position += 1 } else { break }
        }
        try expect("}")
    }

    /// Reads a value. Lists and objects are kept as JSON text, for SQLite's JSON functions.
    private mutating func takeValue(depth: Int) throws -> Cell {
        skipBlanks()
        let start = position
        guard depth < 200 else { throw flaw("the values are nested too deeply") }
        switch UnicodeScalar(peek) {
        case "\"": return .text(try takeString())
        case "{":
            var fields: [(name: String, value: Cell)] = []
            try takeObject { rows, name in
                let value = try rows.takeValue(depth: depth + 1)
                if fields.count < 2 { fields.append((name, value)) }
            }
            return try tagged(fields) ?? .text(Array(bytes[start..<position]))
        case "[":
            try takeList { rows in _ = try rows.takeValue(depth: depth + 1) }
            return .text(Array(bytes[start..<position]))
        case "t": return try takeWord("true", .boolean(true))
        case "f": return try takeWord("false", .boolean(false))
        case "n": return try takeWord("null", .null)
        default: return try takeNumber()
        }
    }

    /// Decodes an object that `query` writes for a blob, `{"$blob":"..."}`, or for text that is not UTF-8, `{"$text":"..."}`. Returns `nil`
    /// for other objects.
    private func tagged(_ fields: [(name: String, value: Cell)]) throws -> Cell? {
        guard fields.count == 1, let field = fields.first, field.name == "$blob" || field.name == "$text",
            case .text(let text) = field.value
        else { return nil }
        guard let data = Data(base64Encoded: Data(text)) else { throw flaw("expected Base64 in \(field.name)") }
        return field.name == "$blob" ? .blob(Array(data)) : .text(Array(data))
    }

    private mutating func takeWord(_ word: String, _ value: Cell) throws -> Cell {
        guard bytes[position...].starts(with: word.utf8) else { throw flaw("expected \(word)") }
        position += word.utf8.count
        return value
    }

    private mutating func takeNumber() throws -> Cell {
        let start = position
        while position < bytes.count, bytes[position] &- 0x30 < 10 || "+-.eE".utf8.contains(bytes[position]) { position += 1 }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        let digits = text.drop { $0 == "-" }
        guard digits.first?.isNumber == true, digits.count == 1 || !digits.hasPrefix("0") || !digits.dropFirst().first!.isNumber
        else {
            throw flaw("expected a value")
        }
        if let point = text.utf8.firstIndex(of: UInt8(ascii: ".")),
            text.utf8[point...].dropFirst().first.map({ $0 &- 0x30 < 10 }) != true
        {
            throw flaw("expected a digit after the decimal point")
        }
        if let integer = Int64(text) { return .integer(integer) }
        // A long integer stays text, because the nearest real number would lose digits.
        if NumberText.isLongInteger(Array(text.utf8)) { return .text(Array(text.utf8)) }
        guard let real = Double(text) else { throw flaw("expected a value") }
        return .real(real)
    }

    private mutating func takeString() throws -> [UInt8] {
        guard peek == UInt8(ascii: "\"") else { throw flaw("expected a string") }
        position += 1
        var text: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return text
            case UInt8(ascii: "\\"): try takeEscape(&text)
            case 0..<0x20: throw flaw("a control character in a string must be escaped")
            default: text.append(byte)
            }
        }
        throw flaw("unterminated string")
    }

    private mutating func takeEscape(_ text: inout [UInt8]) throws {
        let byte = peek
        position += 1
        switch UnicodeScalar(byte) {
        case "n": text.append(0x0A)
        case "t": text.append(0x09)
        case "r": text.append(0x0D)
        case "b": text.append(0x08)
        case "f": text.append(0x0C)
        case "\"", "\\", "/": text.append(byte)
        case "u":
            var value = try takeHexadecimal()
            // A surrogate pair encodes a character outside the Basic Multilingual Plane.
            if (0xD800..<0xDC00).contains(value), bytes[position...].starts(with: [0x5C, 0x75]) {
                let end = position
                position += 2
                let low = try takeHexadecimal()
                if (0xDC00..<0xE000).contains(low) {
                    value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
                } else {
                    position = end
                }
            }
            text += Array(String(Character(Unicode.Scalar(value) ?? "\u{FFFD}")).utf8)
        default: throw flaw("invalid escape in a string")
        }
    }

    private mutating func takeHexadecimal() throws -> UInt32 {
        let digits = String(decoding: bytes[position...].prefix(4), as: UTF8.self)
        guard digits.utf8.count == 4, digits.allSatisfy(\.isHexDigit), let value = UInt32(digits, radix: 16) else {
            throw flaw("expected four hexadecimal digits after \\u")
        }
        position += 4
        return value
    }
}
