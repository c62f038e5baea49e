/// Recognition of SQL in places that expect Lua, and of files in places that expect a statement.
enum SQLSource {
    /// Returns whether an argument is the path of a file of SQL rather than a statement.
    static func isPath(_ text: String) -> Bool {
        text.lowercased().hasSuffix(".sql") && !text.contains(where: \.isWhitespace)
    }

    /// Returns the help on a source that does not parse as Lua because it is SQL; otherwise `nil`.
    static func help(on source: ScriptSource) -> String? {
        switch source {
        case .code(let text, _) where ConsoleInput(text).isSQL:
            "this is SQL; use `perilune query [--write] SQL`, or in Lua db:execute[[SQL]]"
        case .file(let path) where isPath(path):
            "run expects Lua; use `perilune console < \(path)` for statements, `perilune restore \(path)` for a dump"
        default: nil
        }
    }
}
