internal import PeriluneRecords

/// The parameters and literals that a statement assigns to columns in VALUES and SET. Computed values are left out.
struct Assignments {
    enum Target: Hashable {
        /// The folded name of a column.
        case name(String)
        /// The position of a column in an INSERT without a column list.
        case position(Int)
    }

    enum Value: Equatable {
        /// A parameter, by its number from 1.
        case parameter(Int)
        case named(String)
        /// The source text of a signed number, a string or a blob.
        case literal(String)
    }

    private(set) var all: [(target: Target, value: Value)] = []
    private let sql: UnsafeBufferPointer<UInt8>
    private let scanner: SQLScanner
    private let tokens: [SQLToken]
    private var parameters: [Int: Value] = [:]

    static func of(_ sql: String) -> [(target: Target, value: Value)] {
        let bytes = Array(sql.utf8)
        return bytes.withUnsafeBufferPointer { Assignments($0).all }
    }

    private init(_ sql: UnsafeBufferPointer<UInt8>) {
        self.sql = sql
        scanner = SQLScanner(sql)
        tokens = scanner.filter(\.isSolid)
        numberParameters()
        readRows()
        readAssignments()
    }

    private func text(_ index: Int) -> String { String(decoding: sql[tokens[index].range], as: UTF8.self) }

    private func isWord(_ index: Int, _ words: String...) -> Bool {
        tokens.indices.contains(index) && tokens[index].kind == .word && words.contains(text(index).uppercased())
    }

    /// Assigns numbers to the parameters. A `?` gets one more than the highest number before it.
    private mutating func numberParameters() {
        var highest = 0
        for (index, token) in tokens.enumerated() where token.kind == .parameter {
            let text = text(index)
            guard text.hasPrefix("?") else {
                parameters[index] = .named(text)
                continue
            }
            let number = Int(text.dropFirst()) ?? highest + 1
            highest = max(highest, number)
            parameters[index] = .parameter(number)
        }
    }

    /// Returns the token ranges between commas, ignoring commas in inner parentheses. The list ends at a closing parenthesis or at
    /// one of the words.
    private func items(from start: Int, until words: Set<String> = []) -> (items: [Range<Int>], end: Int) {
        var depth = 0, items: [Range<Int>] = [], first = start, index = start
        while index < tokens.count {
            let sign = tokens[index].kind == .sign ? text(index) : ""
            if sign == ")", depth == 0 { break }
            if depth == 0, tokens[index].kind == .word, words.contains(text(index).uppercased()) { break }
            if sign == ";" { break }
            if sign == "(" { depth += 1 }
            if sign == ")" { depth -= 1 }
            if sign == ",", depth == 0 {
                items.append(first..<index)
                first = index + 1
            }
            index += 1
        }
        return (items + [first..<index], index)
    }

    private func value(_ item: Range<Int>) -> Value? {
        if item.count == 2, ["-", "+"].contains(text(item.lowerBound)), tokens[item.lowerBound + 1].kind == .number {
            return .literal(text(item.lowerBound) + text(item.lowerBound + 1))
        }
        guard item.count == 1 else { return nil }
        return switch tokens[item.lowerBound].kind {
        case .parameter: parameters[item.lowerBound]
        case .number, .string, .blob: .literal(text(item.lowerBound))
        default: nil
        }
    }

    /// Reads `INTO name [AS name] [(columns)] VALUES (...), (...)`.
    private mutating func readRows() {
        guard let into = tokens.indices.first(where: { isWord($0, "INTO") }),
            let values = tokens.indices.first(where: { $0 > into && isWord($0, "VALUES") })
        else { return }
        let list = tokens.indices.first { $0 > into && $0 < values && text($0) == "(" }
        let names = list.map { items(from: $0 + 1).items.compactMap { scanner.name(tokens[$0.lowerBound]) } }
        var index = values + 1
        while index < tokens.count, text(index) == "(" {
            let (row, end) = items(from: index + 1)
            for (position, item) in row.enumerated() where names.map({ position < $0.count }) ?? true {
                if let value = value(item) {
                    all.append((names.map { .name($0[position].foldedName) } ?? .position(position), value))
                }
            }
            index = end + 2  // skips the parenthesis and a comma
        }
    }

    /// Reads `SET name = value, ...`.
    private mutating func readAssignments() {
        for set in tokens.indices where isWord(set, "SET") {
            for item in items(from: set + 1, until: ["FROM", "WHERE", "RETURNING", "ORDER", "LIMIT"]).items where item.count > 2 {
                guard text(item.lowerBound + 1) == "=", let name = scanner.name(tokens[item.lowerBound]) else { continue }
                if let value = value(item.dropFirst(2)) { all.append((.name(name.foldedName), value)) }
            }
        }
    }
}
