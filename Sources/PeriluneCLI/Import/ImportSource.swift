import ArgumentParser
internal import Foundation
internal import Perilune
internal import PeriluneRecords

/// The format of an input file.
enum ImportFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    case csv, tsv, json, jsonl
}

/// The import settings, which override detection.
struct ImportSettings: Sendable {
    var format: ImportFormat?
    var encoding: TextEncoding?
    /// The separator of CSV fields.
    var separator: UInt8?
    /// The quote character of CSV; `.some(nil)` for none.
    var quote: UInt8?? = nil
    /// The number of lines before the first CSV row.
    var skippedLines = 0
    /// The texts that are NULL, in addition to empty CSV fields.
    var nulls: Set<[UInt8]> = []
    var hasHeader: Bool?
    /// The column names in order; an empty name omits the column.
    var columns: [String]?
}

/// An input file whose columns and value forms have been determined.
struct ImportSource {
    struct Column: Equatable {
        let name: String
        /// The forms of all values in the column.
        let forms: ValueForms
        /// The index of the column in the file.
        let position: Int
        /// Whether the name was generated because the header has no name for the column.
        var isUnnamed = false
        /// The value that turns a column of numbers, dates or booleans into text.
        var oddValue: OddValue?
    }

    /// The only other value in a column of numbers, dates or booleans.
    struct OddValue: Equatable {
        enum Kind {
            /// A text that is repeated, or that marks missing values in other programs, such as NA.
            case missing
            /// An impossible date, or a text that is probably a mistake. With `--errors`, its row is set aside.
            case mistake
            /// A text in a CSV column of numbers, which may be a column of text, such as house numbers with 12A.
            case other
        }

        let kind: Kind
        /// The kind of the other values: "numbers", "dates" or "booleans".
        let others: String
        let text: String
        /// The line of the first such value.
        let line: Int
    }

    /// A row, or the reason why it is invalid.
    enum Row {
        /// One value for each column.
        case cells([Cell])
        /// The values of an object and the indices of the columns it contains, in order.
        case fields([Cell], columns: [Int])
        case flaw(column: String?, message: String)
    }

    /// The location of a row.
    struct Place {
        let line: Int
        /// The position of an object in a JSON list, from 1.
        var object: Int?
        /// The byte range of the row in the text.
        let range: Range<Int>
    }

    let path: String
    private(set) var columns: [Column] = []
    /// A description of the detected format.
    private(set) var description = ""
    private let bytes: [UInt8]
    private var json: JSONRows?
    /// The messages about fields that the table lacks, by their folded names. Only rows without these fields are imported.
    private var unknownFields: [String: String] = [:]
    private var separator = UInt8(ascii: ",")
    private var quote: UInt8?
    private let skippedLines: Int
    private let nulls: Set<[UInt8]>
    private(set) var hasHeader = false
    private var fieldCount = 0
    /// The text before the first data row, which is repeated at the start of the file for bad rows.
    private(set) var head: [UInt8] = []

    var size: Int { bytes.count }

    /// Reads a whole file and detects its columns.
    ///
    /// - Parameter path: The path; `-` for standard input.
    init(_ path: String, _ settings: ImportSettings) throws {
        self.path = path
        (skippedLines, nulls) = (settings.skippedLines, settings.nulls)
        let raw = try InputFile.read(path) { "cannot import \($0): \($1)" }
        // A file with an explicit encoding is never treated as binary.
        if settings.encoding == nil, let file = BinaryFile(raw) {
            throw Self.failure(path, "it is \(file.name); expected a text file: CSV, TSV, JSON or JSON lines", help: file.help)
        }
        let encoding = settings.encoding ?? .detect(raw)
        if settings.encoding == nil, encoding == .windows1252, let flaw = TextEncoding.flawOfUTF8(raw) {
            let line = raw[..<flaw].count { $0 == 0x0A } + 1, byte = String(raw[flaw], radix: 16, uppercase: true)
            throw Self.failure(
                "\(path):\(line)", "the file is UTF-8, but for the byte 0x\(byte)",
                help: "correct it, or use --encoding to name the encoding of the file: \(TextEncoding.names)")
        }
        guard let text = encoding.decoded(raw) else {
            throw Self.failure(
                path, "it is not valid \(encoding.rawValue)", help: "use --encoding to name another: \(TextEncoding.names)")
        }
        bytes = text
        let format = settings.format ?? Self.format(of: path, text)
        if format == .json || format == .jsonl {
            do {
                let rows = try JSONRows(bytes, isLines: format == .jsonl)
                json = rows
                try takeJSONColumns(rows, settings)
            } catch let flaw as JSONRows.Flaw {
                throw Self.failure("\(path):\(flaw.line)", flaw.message)
            }
            if columns.isEmpty { throw Self.failure(path, "it has no \(rows == 0 ? "rows" : "fields")") }
            description = "JSON, \(Self.count(rows, "row")), \(Self.count(columns.count, "column"))"
        } else {
            quote = settings.quote ?? UInt8(ascii: "\"")
            separator =
                settings.separator
                ?? (format == .tsv ? 0x09 : DelimitedText.separator(of: bytes, quote: quote, skippedLines: skippedLines))
            try takeDelimitedColumns(settings)
            description =
                "\(Self.name(of: separator)), \(hasHeader ? "header" : "no header"), \(Self.count(columns.count, "column"))"
        }
        if let column = columns.first(where: { $0.name.utf8.contains(0) }) {
            throw Self.failure(path, "the name of column \(column.position + 1) holds a NUL")
        }
        if encoding != .utf8 { description += ", \(encoding.rawValue)" }
    }

    private var rows: Int { json?.rows.count ?? 0 }

    /// Returns the first line with a field; `nil` in formats other than JSON.
    func line(of column: Column) -> Int? {
        json?.rows.first { row in row.fields.contains { $0.name.foldedName == column.name.foldedName } }?.line
    }

    /// Sets aside the objects that have fields which the table lacks.
    ///
    /// - Parameter isKnown: Returns whether the table has a column.
    /// - Returns: Whether any object is left. Otherwise, and in formats other than JSON, nothing is set aside.
    mutating func setAsideObjects(
        _ isKnown: (Column) -> Bool, because message: (Column) -> String
    ) -> Bool {
        guard let json else { return false }
        let unknown = columns.filter { !isKnown($0) }
        let messages = Dictionary(unknown.map { ($0.name.foldedName, message($0)) }) { first, _ in first }
        let isLeft = json.rows.contains { row in
            row.flaw == nil && !row.fields.contains { messages[$0.name.foldedName] != nil }
        }
        guard isLeft else { return false }
        unknownFields = messages
        columns.removeAll { messages[$0.name.foldedName] != nil }
        return true
    }

    /// Returns a value for `--columns` that omits the unnamed columns; `nil` if the table lacks another column, too.
    func namesWithoutUnnamed(in known: Set<String>) -> String? {
        let names = columns.filter { !$0.isUnnamed }.map(\.name.foldedName)
        guard names.allSatisfy(known.contains) else { return nil }
        return columns.map { $0.isUnnamed ? "" : $0.name }.joined(separator: ",")
    }

    private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }

    private static func format(of path: String, _ bytes: [UInt8]) -> ImportFormat {
        switch (path as NSString).pathExtension.lowercased() {
        case "csv": return .csv
        case "tsv", "tab": return .tsv
        case "json": return .json
        case "jsonl", "ndjson": return .jsonl
        default:
            let first = bytes.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
            return first == UInt8(ascii: "{") || first == UInt8(ascii: "[") ? .json : .csv
        }
    }

    private static func name(of separator: UInt8) -> String {
        switch separator {
        case UInt8(ascii: ","): "CSV"
        case 0x09: "TSV"
        default: "CSV with \(Character(Unicode.Scalar(separator)))"
        }
    }

    static func failure(_ path: String, _ message: String, help: String? = nil, kind: String = "format") -> CommandFailure {
        CommandFailure(ErrorReport("cannot import \(path): \(message)", kind: kind, help: help))
    }

    // MARK: - Columns

    private mutating func takeJSONColumns(_ rows: JSONRows, _ settings: ImportSettings) throws {
        if let columns = settings.columns, let missing = columns.first(where: { !$0.isEmpty && !rows.has($0) }) {
            throw Self.failure(path, "it has no field \(missing)", help: "available: \(rows.columns.joined(separator: ", "))")
        }
        let wanted = settings.columns?.filter { !$0.isEmpty } ?? rows.columns
        var contents: [String: Content] = [:]
        for row in rows.rows {
            for (name, value) in row.fields where !isNull(value) {
                contents[name.foldedName, default: Content(isTyped: true)].add(value, line: row.line)
            }
        }
        columns = wanted.enumerated().map { position, name in
            let content = contents[name.foldedName]
            return Column(name: name, forms: content?.columnForms ?? [], position: position, oddValue: content?.oddValue)
        }
    }

    private var delimited: DelimitedText { DelimitedText(bytes, separator: separator, quote: quote, skippedLines: skippedLines) }

    private mutating func takeDelimitedColumns(_ settings: ImportSettings) throws {
        var text = delimited
        let start = text.position
        var fields: [DelimitedText.Field] = []
        guard text.next(into: &fields) else {
            throw Self.failure(path, "it has no rows" + (skippedLines > 0 ? " after the skipped lines" : ""))
        }
        let first = fields.map { text.value($0) }
        hasHeader = settings.hasHeader ?? HeaderDetection(first: first, rows: Self.rows(after: text)).isHeader
        head = Array(bytes[..<(hasHeader ? text.position : start)])
        if let last = head.last, last != 0x0A, last != 0x0D { head.append(0x0A) }
        fieldCount = first.count
        let found =
            hasHeader ? first.map { String(decoding: $0, as: UTF8.self).trimmed } : [String](repeating: "", count: fieldCount)
        var names = JSONRowWriter.unique(found.enumerated().map { $1.isEmpty ? "column\($0 + 1)" : $1 })
        if let given = settings.columns {
            guard given.count == names.count else {
                throw Self.failure(
                    path, "it has \(Self.count(names.count, "column")), but --columns names \(given.count)",
                    help: given.count < names.count ? "an empty name skips a field: a,,c" : nil)
            }
            names = given
        }
        let contents = contents(after: text, first: hasHeader ? nil : first)
        columns = names.enumerated().compactMap { index, name in
            if name.isEmpty { return nil }
            let content = contents[index]
            return Column(
                name: name, forms: content.columnForms, position: index,
                isUnnamed: settings.columns == nil && found[index].isEmpty, oddValue: content.oddValue)
        }
    }

    private static func rows(after text: DelimitedText) -> [[[UInt8]]] {
        var text = text, fields: [DelimitedText.Field] = [], rows: [[[UInt8]]] = []
        while rows.count < HeaderDetection.sampleSize, text.next(into: &fields) { rows.append(fields.map { text.value($0) }) }
        return rows
    }

    /// The forms of the values found in a column.
    private struct Content {
        /// Whether the values have types, as in JSON. A text among numbers then does not make all values texts.
        var isTyped = false
        private var forms: ValueForms = []
        private var count = 0
        /// The first text and the first impossible date, with their lines.
        private var text: (value: [UInt8], line: Int, count: Int)?
        private var impossibleDate: (value: [UInt8], line: Int)?
        /// Whether the column contains different texts, so that none of them is odd.
        private(set) var isMixed = false

        init(isTyped: Bool = false) { self.isTyped = isTyped }

        /// The forms that determine the type of the column.
        var columnForms: ValueForms {
            guard text != nil, oddValue?.kind == .mistake else { return forms }
            return forms.subtracting(.text).union(.oddText)
        }

        var oddValue: OddValue? {
            let others = forms.subtracting([.text, .impossibleDate]), areBooleans = others == .boolean
            guard !isMixed, others.areNumbers || others.areDates || areBooleans else { return nil }
            let name = others.areDates ? "dates" : areBooleans ? "booleans" : "numbers"
            if let text {
                let isMissing = HeaderDetection.isMissing(text.value)
                // A text among few values is probably not a mistake, unless the others can hardly be text.
                let isRare = text.count * 10 <= count || text.count == 1 && (isTyped || areBooleans)
                guard isMissing || impossibleDate == nil && isRare else { return nil }
                let kind: OddValue.Kind =
                    isMissing || text.count > 1 ? .missing : others.areNumbers && !isTyped ? .other : .mistake
                return OddValue(kind: kind, others: name, text: Self.shown(text.value), line: text.line)
            }
            guard let impossibleDate, others.areDates else { return nil }
            return OddValue(kind: .mistake, others: name, text: Self.shown(impossibleDate.value), line: impossibleDate.line)
        }

        private static func shown(_ value: [UInt8]) -> String {
            DisplayText.cut(DisplayText.escaped(value), to: 40, ellipsis: "…")
        }

        /// Adds a CSV field.
        mutating func add(_ value: [UInt8], line: Int) { add(ValueForms(value), value, line: line) }

        /// Adds a JSON value.
        mutating func add(_ value: Cell, line: Int) {
            let bytes: [UInt8] = if case .text(let bytes) = value { bytes } else { [] }
            add(ValueForms(value), bytes, line: line)
        }

        private mutating func add(_ form: ValueForms, _ value: [UInt8], line: Int) {
            forms.formUnion(form)
            count += form.isEmpty ? 0 : 1
            if form == .impossibleDate, impossibleDate == nil { impossibleDate = (value, line) }
            guard form == .text else { return }
            isMixed = isMixed || text.map { $0.value != value } ?? false
            text = (text?.value ?? value, text?.line ?? line, (text?.count ?? 0) + 1)
        }
    }

    private func contents(after text: DelimitedText, first: [[UInt8]]?) -> [Content] {
        var text = text
        text.hasEmptyRows = fieldCount == 1
        var contents = [Content](repeating: Content(), count: fieldCount)
        for (index, value) in (first ?? []).enumerated() where !isNull(value) {
            contents[index].add(value, line: skippedLines + 1)
        }
        var fields: [DelimitedText.Field] = []
        while text.next(into: &fields) {
            // Rows with a wrong number of fields are reported later.
            for index in 0..<min(fields.count, fieldCount) where !contents[index].isMixed {
                let value = text.value(fields[index])
                if !isNull(value) { contents[index].add(value, line: text.line) }
            }
        }
        return contents
    }

    private func isNull(_ value: [UInt8]) -> Bool {
        !nulls.isEmpty && (nulls.contains(value) || nulls.contains(Array(String(decoding: value, as: UTF8.self).trimmed.utf8)))
    }

    private func isNull(_ value: Cell) -> Bool { if case .text(let bytes) = value { isNull(bytes) } else { false } }

    // MARK: - Rows

    /// Calls a closure for each row.
    ///
    /// - Parameters:
    ///   - kinds: The kinds of the columns, in order.
    ///   - body: Receives the location of each row and the row.
    func forEachRow(_ kinds: [ColumnKind], _ body: (Place, Row) throws -> Void) throws {
        if let json { return try forEachObject(json, kinds, body) }
        var text = delimited
        var fields: [DelimitedText.Field] = []
        if hasHeader { _ = text.next(into: &fields) }
        text.hasEmptyRows = fieldCount == 1
        var start = text.position
        while text.next(into: &fields) {
            try body(Place(line: text.line, range: start..<text.position), row(fields, text, kinds))
            start = text.position
        }
    }

    /// Returns the original text of a row, with a line end.
    func text(of place: Place) -> [UInt8] {
        let isLineEnd = { (byte: UInt8) in byte == 0x0A || byte == 0x0D }
        var text = bytes[place.range]
        // Skips empty lines before the row. In a file with one column, they are rows.
        if fieldCount != 1 { text = text.drop(while: isLineEnd) }
        if let last = text.last, isLineEnd(last) { return Array(text) }
        return text + [0x0A]
    }

    private func row(_ fields: [DelimitedText.Field], _ text: DelimitedText, _ kinds: [ColumnKind]) -> Row {
        let advice = "; a quote in a field must be doubled, or use --quote none if quotes are text"
        if text.isUnclosed { return .flaw(column: nil, message: "unterminated quote" + advice) }
        if let line = text.spoiledLine {
            return .flaw(column: nil, message: "text follows the quote that ends in line \(line)" + advice)
        }
        guard fields.count == fieldCount else {
            let lines =
                text.lineCount > 1 && fields.contains(where: \.isQuoted)
                ? " in lines \(text.line) to \(text.line + text.lineCount - 1)" + advice : ""
            return .flaw(column: nil, message: "expected \(Self.count(fieldCount, "field")), got \(fields.count)" + lines)
        }
        var cells: [Cell] = []
        cells.reserveCapacity(columns.count)
        for (index, column) in columns.enumerated() {
            let field = fields[column.position], value = text.value(field)
            guard let cell = isNull(value) ? .null : kinds[index].value(value, isQuoted: field.isQuoted) else {
                let shown = DisplayText.cut(DisplayText.escaped(value), to: 40, ellipsis: "…")
                return .flaw(
                    column: column.name, message: "expected \(kinds[index].expectation(for: Array(value))), got \(shown)")
            }
            cells.append(cell)
        }
        return .cells(cells)
    }

    private func forEachObject(_ json: JSONRows, _ kinds: [ColumnKind], _ body: (Place, Row) throws -> Void) throws {
        let places = Dictionary(columns.enumerated().map { ($1.name.foldedName, $0) }) { first, _ in first }
        for (index, object) in json.rows.enumerated() {
            let place = Place(line: object.line, object: json.isList ? index + 1 : nil, range: object.range)
            try body(place, object.flaw.map { .flaw(column: nil, message: $0) } ?? row(object.fields, places, kinds))
        }
    }

    private func row(_ fields: [(name: String, value: Cell)], _ places: [String: Int], _ kinds: [ColumnKind]) -> Row {
        var cells: [(column: Int, cell: Cell)] = [], filled: Set<Int> = []
        for (name, value) in fields {
            guard let place = places[name.foldedName] else {
                if let message = unknownFields[name.foldedName] { return .flaw(column: nil, message: message) }
                continue
            }
            guard filled.insert(place).inserted else {
                return .flaw(
                    column: name, message: "the object has two fields of this name, which columns have in any case of letters")
            }
            guard let cell = isNull(value) ? .null : kinds[place].value(value) else {
                return .flaw(
                    column: name,
                    message: "expected \(Self.expectation(kinds[place], value)), got \(Self.text(value)?.text ?? "null")")
            }
            cells.append((place, cell))
        }
        cells.sort { $0.column < $1.column }
        return .fields(cells.map(\.cell), columns: cells.map(\.column))
    }

    private static func expectation(_ kind: ColumnKind, _ value: Cell) -> String {
        if case .text(let bytes) = value { kind.expectation(for: bytes) } else { kind.expectation }
    }

    private static func text(_ cell: Cell) -> JSONText? {
        switch cell {
        case .null: nil
        case .integer(let value): .integer(Int(value))
        case .real(let value): .number(value)
        case .boolean(let value): .boolean(value)
        case .text(let bytes), .blob(let bytes): .string(String(decoding: bytes, as: UTF8.self))
        }
    }
}
