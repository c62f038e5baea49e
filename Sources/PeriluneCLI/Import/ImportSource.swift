import ArgumentParser
internal import Foundation
internal import Perilune
internal import PeriluneRecords

/// The format of a file of rows.
enum ImportFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    case csv, tsv, json, jsonl
}

/// What the caller says of a file, in place of what would be found out.
struct ImportSettings: Sendable {
    var format: ImportFormat?
    var encoding: TextEncoding?
    /// Of CSV.
    var separator: UInt8?
    var hasHeader: Bool?
    /// The names of the columns in their order; an empty one leaves a column out.
    var columns: [String]?
}

/// A file of rows that was looked at: its columns, and what they hold.
struct ImportSource {
    struct Column: Equatable {
        let name: String
        /// What all values of it are; `nil` if it has none.
        let kind: ColumnKind?
        /// The position of the column in the file.
        let position: Int
    }

    /// A row, or why it is none.
    enum Row {
        case cells([Cell])
        case flaw(column: String?, message: String)
    }

    let path: String
    private(set) var columns: [Column] = []
    /// What was found out, for people.
    private(set) var description = ""
    private let bytes: [UInt8]
    private var json: JSONRows?
    private var separator = UInt8(ascii: ",")
    private var hasHeader = false
    /// What keeps a row of names from being a header.
    private var repeatedName: String?
    private var fieldCount = 0

    var size: Int { bytes.count }

    /// Reads a file and looks at all of it.
    ///
    /// - Parameter path: `-` is standard input.
    init(_ path: String, _ settings: ImportSettings) throws {
        self.path = path
        let raw = try Self.read(path)
        // What an encoding was named for is text in it.
        if settings.encoding == nil, let file = BinaryFile(raw) {
            throw Self.failure(path, "it is \(file.name); expected a text file: CSV, TSV, JSON or JSON lines", help: file.help)
        }
        let encoding = settings.encoding ?? .detect(raw)
        guard let text = encoding.decoded(raw) else {
            throw Self.failure(path, "it is not valid \(encoding.rawValue)", help: "use --encoding to name another: \(TextEncoding.names)")
        }
        bytes = text
        let format = settings.format ?? Self.format(of: path, text)
        if format == .json || format == .jsonl {
            do {
                let rows = try JSONRows(bytes)
                json = rows
                try takeJSONColumns(rows, settings)
            } catch let flaw as JSONRows.Flaw {
                throw Self.failure("\(path):\(flaw.line)", flaw.message)
            }
            if columns.isEmpty { throw Self.failure(path, "it has no \(rows == 0 ? "rows" : "fields")") }
            description = "JSON, \(rows) rows, \(columns.count) columns"
        } else {
            separator = settings.separator ?? (format == .tsv ? 0x09 : DelimitedText.separator(of: bytes))
            try takeDelimitedColumns(settings)
            let header = hasHeader ? "header" : "no header" + (repeatedName.map { " (`\($0)` is in the first row twice)" } ?? "")
            description = "\(Self.name(of: separator)), \(header), \(columns.count) columns"
        }
        if encoding != .utf8 { description += ", \(encoding.rawValue)" }
    }

    private var rows: Int { json?.rows.count ?? 0 }

    private static func read(_ path: String) throws -> [UInt8] {
        if path == "-" { return try StandardStreams.readInput() }
        do {
            return Array(try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe))
        } catch {
            var isFolder: ObjCBool = false
            let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            throw failure(path, !exists ? "the file does not exist" : isFolder.boolValue ? "it is a folder" : "it cannot be read", kind: "io")
        }
    }

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
        var kinds: [String: ColumnKind] = [:]
        for row in rows.rows {
            for (name, value) in row.fields {
                let name = name.foldedName
                kinds[name] = ColumnKind.joined(kinds[name], with: value)
            }
        }
        columns = wanted.enumerated().map { Column(name: $1, kind: kinds[$1.foldedName], position: $0) }
    }

    private mutating func takeDelimitedColumns(_ settings: ImportSettings) throws {
        var text = DelimitedText(bytes, separator: separator)
        var fields: [DelimitedText.Field] = []
        guard text.next(into: &fields) else { throw Self.failure(path, "it has no rows") }
        let first = fields.map { text.value($0) }
        let canBeHeader = Self.canBeNames(first), repeated = Self.repeated(first)
        hasHeader = settings.hasHeader ?? (canBeHeader && repeated == nil)
        if settings.hasHeader == nil, canBeHeader { repeatedName = repeated.map { DisplayText.cut(DisplayText.escaped($0), to: 40, ellipsis: "…") } }
        fieldCount = first.count
        var names = hasHeader ? first.map { String(decoding: $0, as: UTF8.self).trimmed } : first.indices.map { "column\($0 + 1)" }
        if let given = settings.columns {
            guard given.count == names.count else {
                throw Self.failure(path, "it has \(names.count) columns, but --columns names \(given.count)")
            }
            names = given
        } else {
            names = JSONRowWriter.unique(names.enumerated().map { $1.isEmpty ? "column\($0 + 1)" : $1 })
        }
        let kinds = kinds(after: text, first: hasHeader ? nil : first)
        columns = names.enumerated().compactMap { index, name in
            name.isEmpty ? nil : Column(name: name, kind: kinds[index], position: index)
        }
    }

    /// Whether none of the values is empty or a number. Those of a header are names, and none of them is there twice.
    private static func canBeNames(_ fields: [[UInt8]]) -> Bool { fields.allSatisfy { !$0.isEmpty && !NumberText.isNumber($0) } }

    /// The first value that was there before.
    private static func repeated(_ fields: [[UInt8]]) -> [UInt8]? {
        var known: Set<[UInt8]> = []
        return fields.first { !known.insert($0).inserted }
    }

    private func kinds(after text: DelimitedText, first: [[UInt8]]?) -> [ColumnKind?] {
        var text = text
        text.hasEmptyRows = fieldCount == 1
        var kinds = [ColumnKind?](repeating: nil, count: fieldCount)
        for (index, value) in (first ?? []).enumerated() { kinds[index] = ColumnKind.joined(nil, with: value) }
        var fields: [DelimitedText.Field] = []
        while text.next(into: &fields) {
            // Bad rows are reported later.
            for index in 0..<min(fields.count, fieldCount) where kinds[index] != .text {
                kinds[index] = ColumnKind.joined(kinds[index], with: text.value(fields[index]))
            }
        }
        return kinds
    }

    // MARK: - Rows

    /// Goes through the rows.
    ///
    /// - Parameters:
    ///   - kinds: What the columns are to be, in their order.
    ///   - body: Gets the line, how far in the file that is, the row, and what gives its text.
    func forEachRow(_ kinds: [ColumnKind], _ body: (_ line: Int, _ position: Int, Row, () -> String) throws -> Void) throws {
        if let json { return try forEachObject(json, kinds, body) }
        var text = DelimitedText(bytes, separator: separator)
        var fields: [DelimitedText.Field] = []
        if hasHeader { _ = text.next(into: &fields) }
        text.hasEmptyRows = fieldCount == 1
        var start = text.position
        while text.next(into: &fields) {
            let row = row(fields, text, kinds), range = start..<text.position
            try body(text.line, text.position, row) { String(decoding: bytes[range], as: UTF8.self).trimmed }
            start = text.position
        }
    }

    private func row(_ fields: [DelimitedText.Field], _ text: DelimitedText, _ kinds: [ColumnKind]) -> Row {
        if text.isUnclosed { return .flaw(column: nil, message: "unterminated quote") }
        guard fields.count == fieldCount else {
            return .flaw(column: nil, message: "expected \(fieldCount) fields, got \(fields.count)")
        }
        var cells: [Cell] = []
        cells.reserveCapacity(columns.count)
        for (index, column) in columns.enumerated() {
            let field = fields[column.position], value = text.value(field)
            guard let cell = kinds[index].value(value, isQuoted: field.isQuoted) else {
                let shown = DisplayText.cut(DisplayText.escaped(value), to: 40, ellipsis: "…")
                return .flaw(column: column.name, message: "expected \(kinds[index].expectation), got \(shown)")
            }
            cells.append(cell)
        }
        return .cells(cells)
    }

    private func forEachObject(_ json: JSONRows, _ kinds: [ColumnKind], _ body: (Int, Int, Row, () -> String) throws -> Void) throws {
        let places = Dictionary(columns.enumerated().map { ($1.name.foldedName, $0) }) { first, _ in first }
        for (index, object) in json.rows.enumerated() {
            try body(object.line, bytes.count * index / json.rows.count, row(object.fields, places, kinds)) {
                JSONText.object(object.fields.map { ($0.name, Self.text($0.value)) }).text
            }
        }
    }

    private func row(_ fields: [(name: String, value: Cell)], _ places: [String: Int], _ kinds: [ColumnKind]) -> Row {
        var cells = [Cell](repeating: .null, count: columns.count), filled: Set<Int> = []
        for (name, value) in fields {
            guard let place = places[name.foldedName] else { continue }
            guard filled.insert(place).inserted else {
                return .flaw(column: name, message: "the object has two fields of this name, which columns have in any case of letters")
            }
            guard let cell = kinds[place].value(value) else {
                return .flaw(column: name, message: "expected \(Self.expectation(kinds[place], value)), got \(Self.text(value)?.text ?? "null")")
            }
            cells[place] = cell
        }
        return .cells(cells)
    }

    private static func expectation(_ kind: ColumnKind, _ value: Cell) -> String {
        if case .text(let bytes) = value, kind == .integer || kind == .real, NumberText.isLongInteger(bytes) { return "an integer of 64 bits" }
        return kind.expectation
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
