internal import PeriluneRecords

/// A scan of a statement for the parts that determine how it runs in a cluster.
struct StatementScan {
    /// The statement without its semicolon and without surrounding whitespace and comments.
    private(set) var text = ""
    /// The first words, in upper case.
    private(set) var words: [String] = []
    /// Whether the statement refers to the schema `temp`.
    private(set) var mentionsTemporary = false
    /// The text up to and including RETURNING, and the expressions after it.
    private(set) var returning: (before: String, items: [String])?
    /// Whether the statement is an INSERT.
    private(set) var inserts = false
    /// The target table of an INSERT or UPDATE.
    private(set) var target: String?
    /// The text before VALUES, and VALUES with the rows, for an INSERT that does nothing except insert the rows of its VALUES
    /// clause.
    private(set) var insertedRows: (before: String, rows: String)?
    /// Whether an INSERT may update a row instead of inserting one.
    private(set) var mayUpdate = false

    init(_ sql: String) {
        let bytes = Array(sql.utf8)
        bytes.withUnsafeBufferPointer { scan($0) }
    }

    private mutating func scan(_ bytes: UnsafeBufferPointer<UInt8>) {
        let scanner = SQLScanner(bytes)
        let tokens = scanner.filter(\.isSolid)
        func slice(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
        func raw(_ token: SQLToken) -> String { slice(token.range) }
        func word(_ token: SQLToken) -> String { token.kind == .word ? raw(token).uppercased() : "" }
        var first = tokens.startIndex, last = tokens.endIndex
        while first < last, raw(tokens[first]) == ";" { first += 1 }
        while last > first, raw(tokens[last - 1]) == ";" { last -= 1 }
        let solid = Array(tokens[first..<last])
        guard let opening = solid.first, let closing = solid.last else { return }
        text = slice(opening.range.lowerBound..<closing.range.upperBound)
        words = solid.prefix(6).map(word)
        for (token, next) in zip(solid, solid.dropFirst()) where raw(next) == "." {
            if token.kind == .word || token.kind == .name, scanner.name(token)?.lowercased() == "temp" {
                mentionsTemporary = true
            }
        }
        scanReturning(solid, slice, raw, word, from: opening.range.lowerBound)
        inserts = solid.contains { word($0) == "INTO" }
        // The target follows INTO or UPDATE [OR ...].
        guard let before = solid.firstIndex(where: { word($0) == (inserts ? "INTO" : "UPDATE") }) else { return }
        var name = before + 1
        if !inserts, name < solid.count, word(solid[name]) == "OR" { name += 2 }
        guard name < solid.count else { return }
        let isQualified = name + 2 < solid.count && raw(solid[name + 1]) == "."
        target = scanner.name(solid[isQualified ? name + 2 : name])
        scanInsertedRows(solid, slice, raw, word)
        mayUpdate = zip(solid, solid.dropFirst()).contains { word($0) == "DO" && word($1) == "UPDATE" }
    }

    /// Scans the rows after VALUES, which are in parentheses and separated by commas.
    private mutating func scanInsertedRows(
        _ solid: [SQLToken], _ slice: (Range<Int>) -> String, _ raw: (SQLToken) -> String, _ word: (SQLToken) -> String
    ) {
        guard words.first == "INSERT", let values = solid.firstIndex(where: { word($0) == "VALUES" }), values + 1 < solid.count
        else { return }
        var depth = 0
        for token in solid[(values + 1)...] {
            switch raw(token) {
            case "(": depth += 1
            case ")": depth -= 1
            case ",": break
            default: if depth == 0 { return }
            }
        }
        guard let first = solid.first, let last = solid.last else { return }
        let start = solid[values].range.lowerBound
        insertedRows = (slice(first.range.lowerBound..<start), slice(start..<last.range.upperBound))
    }

    /// Scans RETURNING, which is outside parentheses, as are the commas between its expressions. It is the last clause of a
    /// statement.
    private mutating func scanReturning(
        _ solid: [SQLToken], _ slice: (Range<Int>) -> String, _ raw: (SQLToken) -> String, _ word: (SQLToken) -> String,
        from start: Int
    ) {
        var depth = 0, found: Int?, ends: [Int] = []
        for (index, token) in solid.enumerated() {
            switch raw(token) {
            case "(": depth += 1
            case ")": depth -= 1
            case "," where depth == 0 && found != nil: ends.append(index)
            default: if depth == 0, word(token) == "RETURNING" { (found, ends) = (index, []) }
            }
        }
        guard let found, found + 1 < solid.count else { return }
        var items: [String] = [], first = found + 1
        for end in ends + [solid.count] {
            guard end > first else { return }
            items.append(slice(solid[first].range.lowerBound..<solid[end - 1].range.upperBound))
            first = end + 1
        }
        returning = (slice(start..<solid[found].range.upperBound), items)
    }
}
