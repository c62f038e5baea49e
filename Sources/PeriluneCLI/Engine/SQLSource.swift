/// Recognition of SQL in places that expect Lua or a statement.
enum SQLSource {
    /// The words that begin a statement. Lua code can begin with some of them, but no blank and word follows there.
    private static let words: Set<String> = [
        "select", "insert", "update", "delete", "create", "alter", "drop", "with", "pragma", "replace", "begin", "explain",
        "vacuum",
        "attach", "analyze", "reindex",
    ]

    /// Returns whether a text begins like a statement: `SELECT 1`, but not `select(1)`.
    static func isStatement(_ text: String) -> Bool {
        guard let match = text.prefixMatch(of: /\s*([A-Za-z]+)(?:\s+["\[`*(A-Za-z0-9_']|\s*;?\s*$)/) else { return false }
        return words.contains(match.1.lowercased())
    }

    /// Returns whether an argument is the path of a file of SQL rather than a statement.
    static func isPath(_ text: String) -> Bool {
        text.lowercased().hasSuffix(".sql") && !text.contains(where: \.isWhitespace)
    }

    /// Returns the help on a source that does not parse as Lua because it is SQL; otherwise `nil`.
    static func help(on source: ScriptSource) -> String? {
        switch source {
        case .code(let text, _) where isStatement(text):
            "this is SQL; use `perilune query [--write] SQL`, or in Lua db:execute[[SQL]]"
        case .file(let path) where isPath(path):
            "run expects Lua; use `perilune console < \(path)` for statements, `perilune restore \(path)` for a dump"
        default: nil
        }
    }
}
