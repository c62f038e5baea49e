internal import PeriluneLua
internal import PeriluneRecords

/// Console input, classified as a command, SQL or Lua.
enum ConsoleInput: Equatable {
    /// A command `:name` with its argument.
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

    var isSQL: Bool { if case .sql = self { true } else { false } }

    /// Whether the input may begin or end a transaction.
    var mayBeginOrEndTransaction: Bool {
        switch self {
        case .nothing, .command: false
        case .lua: true
        // If the text has several statements, any of them may control a transaction.
        case .sql(let sql):
            sql.contains(";") || Self.controlWords.contains(SolidTokens(sql, limit: 1).first?.text.lowercased() ?? "")
        }
    }

    private static let controlWords: Set<String> = ["begin", "commit", "end", "rollback", "savepoint", "release"]

    // MARK: - Commands

    /// Commands of other consoles, mapped to the names in Perilune.
    private static let habits = [
        ".tables": "schema", ".schema": "schema", ".quit": "quit", ".exit": "quit", ".help": "help", "\\d": "schema",
        "\\q": "quit",
        "\\?": "help", "exit": "quit", "quit": "quit", "exit()": "quit", "help": "help", "?": "help", ".timer": "timing",
        ".read": "read", "\\i": "read", ".import": "import", "\\dt": "schema", ":tables": "schema", ":exit": "quit", ":q": "quit",
        ".mode": "mode", ".output": "output", ".once": "output",
    ]

    private static func command(in text: String) -> ConsoleInput? {
        let words = text.split(maxSplits: 1, whereSeparator: \.isWhitespace)
        let argument = words.count > 1 ? String(words[1]).trimmed : ""
        if let name = habits[String(words[0])], argument.isEmpty || words[0].first?.isLetter == false {
            return .command(name: name, argument: argument)
        }
        // `::label::` is a Lua label, not a command.
        guard text.hasPrefix(":"), !text.hasPrefix("::") else { return nil }
        return .command(name: String(words[0].dropFirst()), argument: argument)
    }

    // MARK: - SQL

    private static let words: Set<String> = [
        "select", "with", "values", "insert", "update", "delete", "replace", "create", "drop", "alter", "pragma", "explain",
        "analyze",
        "vacuum", "reindex", "attach", "detach", "begin", "commit", "end", "rollback", "savepoint", "release",
    ]

    /// Returns whether a text starts with an SQL keyword that is not a Lua name in this position.
    private static func isSQL(_ text: String) -> Bool {
        let tokens = SolidTokens(text, limit: 2)
        guard let first = tokens.first, first.kind == .word, words.contains(first.text.lowercased()) else { return false }
        guard let second = tokens.second else { return true }
        // An assignment, a field access or a method call is Lua.
        if ["=", ".", "[", ","].contains(second.text.prefix(1)), second.kind != .name { return false }
        // `update:call()` is Lua, but `select :name` is not.
        if second.text.hasPrefix(":"), second.range.lowerBound == first.range.upperBound { return false }
        // `select(` is the Lua function, unless it is a parenthesized SQL expression.
        if first.text == "select", second.text == "(" { return LuaSyntax.check("return " + text) != .whole }
        return true
    }
}

extension ConsoleInput {
    /// Returns help on input that was read as Lua and does not parse, if it has the form of a misspelled statement, such as `SELEC 1`, or
    /// the `=` that other consoles put before an expression; otherwise `nil`.
    static func help(onSyntaxErrorIn text: String) -> String? {
        if text.trimmed.hasPrefix("=") { return "an expression is written without `=`" }
        let tokens = SolidTokens(text, limit: 2)
        guard let first = tokens.first, first.kind == .word, let second = tokens.second,
            !["=", ".", "[", ",", "(", ":", "{"].contains(second.text.prefix(1))
        else { return nil }
        // Short words resemble too many Lua keywords.
        let names = words.filter { $0.count >= 4 }.sorted()
        return nearestName(to: first.text.lowercased(), among: names).map { "did you mean `\($0.uppercased())`?" }
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

/// The tokens of SQL text, without blanks and comments.
struct SolidTokens {
    struct Token: Equatable {
        let kind: SQLToken.Kind
        let text: String
        /// The byte range in the text.
        let range: Range<Int>
        let isClosed: Bool
    }

    private(set) var list: [Token] = []
    /// Whether all quotes and comments are closed.
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

/// A check for Lua syntax.
enum LuaSyntax {
    enum Verdict: Equatable {
        case whole
        /// The text may be the start of valid Lua.
        case incomplete
        case wrong
    }

    /// Compiles a text without running it.
    static func check(_ text: String) -> Verdict {
        do {
            // The added line end makes an unclosed quoted string an error instead of incomplete input.
            _ = try LuaState(libraries: []).load(text + "\n")
            return .whole
        } catch {
            return error.message.hasSuffix("<eof>") ? .incomplete : .wrong
        }
    }

    /// Checks typed input, which may be an expression or statements.
    static func checkInput(_ text: String) -> Verdict {
        let verdicts = [check("return " + text), check(text)]
        if verdicts.contains(.whole) { return .whole }
        return verdicts.contains(.incomplete) ? .incomplete : .wrong
    }
}
