/// A parser for Lua tracebacks.
package enum Traceback {
    /// Returns the active Lua functions, innermost first, without C functions and functions in Perilune's Lua library.
    package static func frames(of traceback: String) -> [ErrorReport.Frame] {
        traceback.split(separator: "\n").compactMap(frame)
    }

    /// Parses a line such as `close.lua:14: in local 'total'` or `close.lua:31: in main chunk`.
    private static func frame(_ line: Substring) -> ErrorReport.Frame? {
        let line = line.drop { $0 == "\t" || $0 == " " }
        guard let separator = line.firstRange(of: ": in ") else { return nil }
        let position = line[..<separator.lowerBound]
        guard let colon = position.lastIndex(of: ":"), let number = Int(position[position.index(after: colon)...])
        else { return nil }
        let file = String(position[..<colon])
        guard !file.hasPrefix("[lib] ") else { return nil }
        return ErrorReport.Frame(name: name(line[separator.upperBound...]), file: file, line: number)
    }

    /// Returns the function name in a description such as `function 'shop.total'`, `local 'total'`, `method 'add'`, `main chunk`
    /// or `function <close.lua:3>`.
    private static func name(_ description: Substring) -> String {
        if description.hasPrefix("main chunk") { return "main" }
        let parts = description.split(separator: "'", omittingEmptySubsequences: false)
        if parts.count >= 3 { return parts[1...(parts.count - 2)].joined(separator: "'") }
        return "function"
    }
}
