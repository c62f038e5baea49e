internal import PeriluneLua
internal import PeriluneRecords

/// What a text that was typed is.
enum ConsoleInput: Equatable {
    /// `:name` and what follows it.
    case command(name: String, argument: String)
    case sql(String)
    case lua(String)
    case nothing

    init(_ text: String) {
        let trimmed = text.trimmed
        if trimmed.isEmpty {
            self = .nothing
        } else if let command = Self.command(in: trimmed) {
            self = command
        } else if Self.isSQL(trimmed) {
            self = .sql(trimmed)
        } else {
            self = .lua(text)
        }
    }

    /// Whether it may open or close a transaction although it succeeds.
    var mayBeginOrEndTransaction: Bool {
        switch self {
        case .nothing, .command: false
        case .lua: true
        // Any of several statements may.
        case .sql(let sql): sql.contains(";") || Self.controlWords.contains(SolidTokens(sql, limit: 1).first?.text.lowercased() ?? "")
        }
    }

    private static let controlWords: Set<String> = ["begin", "commit", "end", "rollback", "savepoint", "release"]

    // MARK: - Commands

    /// What other consoles call some commands.
    private static let habits = [
        ".tables": "schema", ".schema": "schema", ".quit": "quit", ".exit": "quit", ".help": "help", "\\d": "schema", "\\q": "quit",
        "\\?": "help", "exit": "quit", "quit": "quit", "exit()": "quit", "help": "help", "?": "help", ".timer": "timing", ".read": "read", "\\i": "read", ".import": "import",
    ]

    private static func command(in text: String) -> ConsoleInput? {
        let words = text.split(maxSplits: 1, whereSeparator: \.isWhitespace)
        let argument = words.count > 1 ? String(words[1]).trimmed : ""
        if let name = habits[String(words[0])], argument.isEmpty || words[0].first?.isLetter == false {
            return .command(name: name, argument: argument)
        }
        // `::label::` is Lua.
        guard text.hasPrefix(":"), !text.hasPrefix("::") else { return nil }
        return .command(name: String(words[0].dropFirst()), argument: argument)
    }

    // MARK: - SQL

    private static let words: Set<String> = [
        "select", "with", "values", "insert", "update", "delete", "replace", "create", "drop", "alter", "pragma", "explain", "analyze",
        "vacuum", "reindex", "attach", "detach", "begin", "commit", "end", "rollback", "savepoint", "release",
    ]

    /// Whether a text begins with a word of SQL that cannot be a name of Lua here.
    private static func isSQL(_ text: String) -> Bool {
        let tokens = SolidTokens(text, limit: 2)
        guard let first = tokens.first, first.kind == .word, words.contains(first.text.lowercased()) else { return false }
        guard let second = tokens.second else { return true }
        // An assignment, a field, a method.
        if ["=", ".", "[", ","].contains(second.text.prefix(1)), second.kind != .name { return false }
        // `update:call()`, but not `select :name`.
        if second.text.hasPrefix(":"), second.range.lowerBound == first.range.upperBound { return false }
        // Lua's own function, unless it is only a parenthesis after SELECT.
        if first.text == "select", second.text == "(" { return LuaSyntax.check("return " + text) != .whole }
        return true
    }
}

extension String {
    var trimmed: String {
        var text = self[...]
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}

/// The tokens of an SQL text that are neither blank nor comments, with their texts.
struct SolidTokens {
    struct Token: Equatable {
        let kind: SQLToken.Kind
        let text: String
        /// In bytes.
        let range: Range<Int>
        let isClosed: Bool
    }

    private(set) var list: [Token] = []
    /// Whether quotes and comments end before the text does.
    private(set) var isClosed = true
    var first: Token? { list.first }
    var second: Token? { list.count > 1 ? list[1] : nil }

    init(_ text: String, limit: Int = .max) {
        let bytes = Array(text.utf8)
        bytes.withUnsafeBufferPointer { buffer in
            var scanner = SQLScanner(buffer)
            while list.count < limit, let token = scanner.next() {
                if !token.isClosed { isClosed = false }
                guard token.isSolid else { continue }
                let text = String(decoding: buffer[token.range], as: UTF8.self)
                list.append(Token(kind: token.kind, text: text, range: token.range, isClosed: token.isClosed))
            }
        }
    }
}

/// Whether a text is Lua.
enum LuaSyntax {
    enum Verdict: Equatable {
        case whole
        /// It could go on.
        case incomplete
        case wrong
    }

    /// Compiles a text, and nothing else.
    static func check(_ text: String) -> Verdict {
        do {
            // A line end, behind which a string in quotes cannot go on.
            _ = try LuaState(libraries: []).load(text + "\n")
            return .whole
        } catch {
            return error.message.hasSuffix("<eof>") ? .incomplete : .wrong
        }
    }

    /// The same of what is typed, which may be an expression or statements.
    static func checkInput(_ text: String) -> Verdict {
        let verdicts = [check("return " + text), check(text)]
        if verdicts.contains(.whole) { return .whole }
        return verdicts.contains(.incomplete) ? .incomplete : .wrong
    }
}
