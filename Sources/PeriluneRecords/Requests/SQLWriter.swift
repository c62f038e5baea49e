/// A writer that turns a request's tokens into SQL text.
struct SQLWriter {
    private let bytes: [UInt8]
    private let sources: [CompilerWalk.PlacedSource]
    /// The name of each source in the statement.
    private let names: [String]
    /// The case-folded names of the statement's common table expressions, which hide database tables of the same name.
    private let declared: Set<String>
    /// The literal values, if the SQL must not have parameters.
    private let literals: [Value]?
    private var position = 0
    private var sql: [UInt8] = []
    private var slots: [Plan.Slot] = []
    private var valueCount = 0

    struct Result {
        let sql: String
        let slots: [Plan.Slot]
    }

    /// - Parameter literals: The values to write as literals, in order; `nil` to write parameters.
    static func write(_ walk: CompilerWalk, literals: [Value]? = nil) -> Result {
        var text = SQLWriter(walk, literals)
        while text.position < text.bytes.count { text.writeNext() }
        return Result(sql: String(decoding: text.sql, as: UTF8.self), slots: text.slots)
    }

    private init(_ walk: CompilerWalk, _ literals: [Value]?) {
        bytes = walk.tokens.bytes
        sources = walk.sources
        declared = walk.declaredNames
        names = Self.chooseNames(walk)
        self.literals = literals
        sql.reserveCapacity(bytes.count * 4)
    }

    /// Returns a name for each source. Aliases are kept. Other sources use the table's name, with a number if a source of the same SELECT,
    /// or an outer source that the SELECT refers to, already has that name.
    private static func chooseNames(_ walk: CompilerWalk) -> [String] {
        let aliases = Set(walk.sources.compactMap { $0.source.alias?.foldedName })
        var names: [String] = []
        for (index, placed) in walk.sources.enumerated() {
            if placed.isTarget {
                names.append(freeName(placed.table.name, aliasesHiding(index, walk)))
                continue
            }
            if let alias = placed.source.alias {
                names.append(alias)
                continue
            }
            let taken = (0..<index).filter { other in
                walk.sources[other].scope == placed.scope
                    || walk.outerUses.contains { $0.source == other && $0.scope == placed.scope }
            }.map { names[$0].foldedName }
            names.append(freeName(placed.table.name, aliases.union(taken)))
        }
        return names
    }

    /// Returns the aliases that may hide the target of a write in subqueries that refer to it. Without such subqueries, the target keeps
    /// the table's name, because RETURNING accepts no other name.
    private static func aliasesHiding(_ target: Int, _ walk: CompilerWalk) -> Set<String> {
        guard walk.outerUses.contains(where: { $0.source == target }) else { return [] }
        return Set(walk.sources.indices.filter { $0 != target }.compactMap { walk.sources[$0].source.alias?.foldedName })
    }

    private static func freeName(_ name: String, _ taken: Set<String>) -> String {
        if !taken.contains(name.foldedName) { return name }
        let numbers = 2...
        return numbers.lazy.map { "\(name)_\($0)" }.first { !taken.contains($0.foldedName) }!
    }

    // MARK: - Tokens

    private mutating func writeNext() {
        let byte = bytes[position]
        position += 1
        if byte < Tokens.operators {
            write(Tokens.Word(rawValue: byte)!.sql)
        } else if byte < Tokens.Mark.column.rawValue {
            write(BinaryOperator(rawValue: byte - Tokens.operators)!.sql)
        } else {
            mark(Tokens.Mark(rawValue: byte)!)
        }
    }

    private mutating func mark(_ mark: Tokens.Mark) {
        switch mark {
        case .column: column(of: readNumber())
        case .source: source(readNumber())
        case .sourceAlias:
            write(" AS ")
            quote(names[readNumber()])
        case .target: target(readNumber())
        case .value: value()
        case .parameter: slots.append(.parameter(readText())); sql.append(UInt8(ascii: "?"))
        case .keys: slots.append(.keys); sql.append(UInt8(ascii: "?"))
        case .text: sql.append(contentsOf: readBytes())
        case .name, .bareColumn: quote(readText())
        case .function: function(readText())
        case .excluded:
            write("\"excluded\".")
            quote(readText())
        case .element: sql.append(contentsOf: "'$[\(readNumber())]'".utf8)
        case .boolean: break
        case .note: _ = readBytes()
        }
    }

    private mutating func column(of number: Int) {
        let column = Int(Int16(truncatingIfNeeded: readNumber()))
        let table = sources[number].table
        quote(names[number])
        sql.append(UInt8(ascii: "."))
        quote(column >= 0 ? table.columns[column].sqlName : table.rowIDName ?? "rowid")
    }

    private mutating func source(_ number: Int) {
        _ = readBytes(4)
        let table = sources[number].table
        // Without the schema name, SQL would read a common table expression of the same name.
        if table.kind != .request, declared.contains(table.name.foldedName) {
            quote(table.databaseName)
            sql.append(UInt8(ascii: "."))
        }
        quote(table.name)
        alias(number)
    }

    private mutating func target(_ number: Int) {
        quote(sources[number].table.name)
        alias(number)
    }

    /// Writes AS and the name of a source, unless it is the table's name.
    private mutating func alias(_ number: Int) {
        guard names[number] != sources[number].table.name else { return }
        write(" AS ")
        quote(names[number])
    }

    private mutating func value() {
        defer { valueCount += 1 }
        if let literals {
            let literal = literals[valueCount].literal
            // Parentheses keep a preceding minus sign from forming the comment marker `--`.
            if literal.first == UInt8(ascii: "-") { sql.append(contentsOf: "(".utf8) }
            sql.append(contentsOf: literal)
            if literal.first == UInt8(ascii: "-") { sql.append(contentsOf: ")".utf8) }
        } else {
            slots.append(.value(valueCount))
            sql.append(UInt8(ascii: "?"))
        }
    }

    /// Writes a function name. Names of common SQLite functions are not quoted; all others are, because they may be keywords.
    private mutating func function(_ name: String) {
        if Self.plainFunctions.contains(name.foldedName) {
            sql.append(contentsOf: name.uppercased().utf8)
        } else {
            quote(name)
        }
        sql.append(UInt8(ascii: "("))
    }

    private static let plainFunctions: Set<String> = [
        "abs", "avg", "coalesce", "count", "date", "datetime", "group_concat", "ifnull", "instr", "julianday", "json_extract",
        "length", "lower", "ltrim", "max", "min", "nullif", "random", "round", "rtrim", "strftime", "substr", "sum", "time",
        "total", "trim", "typeof", "unixepoch", "upper",
    ]

    // MARK: - Reading and writing tokens

    private mutating func readNumber() -> Int {
        defer { position += 2 }
        return Int(bytes[position]) | Int(bytes[position + 1]) << 8
    }

    private mutating func readBytes(_ count: Int? = nil) -> ArraySlice<UInt8> {
        var length = count ?? 0
        if count == nil {
            for index in 0..<4 { length |= Int(bytes[position + index]) << (8 * index) }
            position += 4
        }
        defer { position += length }
        return bytes[position..<position + length]
    }

    private mutating func readText() -> String { String(decoding: readBytes(), as: UTF8.self) }

    private mutating func write(_ text: StaticString) {
        text.withUTF8Buffer { sql.append(contentsOf: $0) }
    }

    private mutating func quote(_ name: String) {
        sql.append(UInt8(ascii: "\""))
        for byte in name.utf8 {
            if byte == UInt8(ascii: "\"") { sql.append(byte) }
            sql.append(byte)
        }
        sql.append(UInt8(ascii: "\""))
    }
}
