internal import PeriluneScenarios

/// Helps with what is typed into the console: Lua, SQL and commands.
struct ConsoleAssistant: LineAssistant {
    /// Whether SQL ends by a semicolon alone, as where lines come from a file.
    var needsSemicolon = false
    /// What there is to complete with.
    var names: any CompletionNames = NoNames()

    func isComplete(_ text: String) -> Bool {
        switch ConsoleInput(text) {
        case .nothing, .command: true
        case .sql: SQLSyntax.isComplete(text, needsSemicolon: needsSemicolon)
        case .lua: LuaSyntax.checkInput(text) != .incomplete
        }
    }

    func styles(of text: String) -> [TerminalStyle?] { Highlighter.styles(of: text) }

    func completions(of before: String, in text: String) -> Completions { Completer(names: names).completions(of: before, in: text) }

    /// As the line before; deeper after what opens a block.
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

/// What names there are.
protocol CompletionNames {
    /// Tables and views with their columns.
    var tables: [(name: String, columns: [String])] { get }
    /// The names after an expression of Lua: `.` or `:`, or "" for names of their own.
    ///
    /// - Parameter parts: A name, then `.name`, `.name()` or `:name()`; empty for an expression that is none of these.
    func members(of parts: [String], separator: String) -> [String]
    /// The names of SQL functions, or of PRAGMAs.
    func sqlNames(_ kind: SQLNameKind) -> [String]
}

/// Names that SQLite knows without a schema.
enum SQLNameKind: String {
    case function, pragma
}

struct NoNames: CompletionNames {
    var tables: [(name: String, columns: [String])] { [] }
    func members(of parts: [String], separator: String) -> [String] { [] }
    func sqlNames(_ kind: SQLNameKind) -> [String] { [] }
}
