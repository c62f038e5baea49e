internal import PeriluneScenarios

/// Language support for console input: Lua, SQL and commands.
struct ConsoleAssistant: LineAssistant {
    /// Whether an SQL statement must end with a semicolon, which input from files requires.
    var needsSemicolon = false
    /// The names available for completion.
    var names: any CompletionNames = NoNames()

    func isComplete(_ text: String) -> Bool {
        switch ConsoleInput(text) {
        case .nothing, .command: true
        case .sql: SQLSyntax.isComplete(text, needsSemicolon: needsSemicolon)
        case .lua: LuaSyntax.checkInput(text) != .incomplete
        }
    }

    /// A console command ends an SQL statement without a semicolon, unless the line is inside quotes or a comment.
    func isSeparate(_ line: String, after text: String) -> Bool {
        guard line.hasPrefix(":"), case .command(let name, _) = ConsoleInput(line), ConsoleInput(text).isSQL else { return false }
        return ConsoleCommands.list.contains { $0.name == name } && SolidTokens(text).isClosed
    }

    func styles(of text: String) -> [TerminalStyle?] { Highlighter.styles(of: text) }

    func completions(of before: String, in text: String) -> Completions {
        Completer(names: names).completions(of: before, in: text)
    }

    /// Returns the indentation of the previous line, increased after the start of a block.
    func indentation(after text: String) -> String {
        let line = text.split(separator: "\n", omittingEmptySubsequences: false).last ?? ""
        let former = String(line.prefix { $0 == " " })
        guard case .lua = ConsoleInput(text) else { return former }
        var depth = 0
        for token in LuaTokens(Array(line)) {
            switch token.kind {
            case .name("do"), .name("then"), .name("function"), .name("repeat"), .name("else"): depth += 1
            case .name("end"), .name("until"), .name("elseif"): depth -= 1
            case .sign where "{(".contains(Array(line)[token.range.lowerBound]): depth += 1
            case .sign where "})".contains(Array(line)[token.range.lowerBound]): depth -= 1
            default: break
            }
        }
        return depth > 0 ? former + "  " : former
    }
}

/// The names available for completion.
protocol CompletionNames {
    /// The tables and views with their columns.
    var tables: [(name: String, columns: [String])] { get }
    /// Returns the names that can follow a Lua expression and `.` or `:`, or all global names for the separator "".
    ///
    /// - Parameter parts: A name, then `.name`, `.name()` or `:name()`; empty for any other expression.
    func members(of parts: [String], separator: String) -> [String]
    /// Returns the names of SQL functions or PRAGMAs.
    func sqlNames(_ kind: SQLNameKind) -> [String]
}

struct NoNames: CompletionNames {
    var tables: [(name: String, columns: [String])] { [] }
    func members(of parts: [String], separator: String) -> [String] { [] }
    func sqlNames(_ kind: SQLNameKind) -> [String] { [] }
}
