internal import PeriluneRecords

/// The names that scripts can use, for suggestions in errors about unknown names.
package enum ScriptNames {
    /// The globals of Lua, Perilune and the scenario language.
    package static let globals = [
        "after_each", "assert", "before_each", "check", "collectgarbage", "coroutine", "db", "debug", "dofile", "error", "expect",
        "expect_error", "factory", "fixture", "getmetatable", "group", "io", "ipairs", "load", "loadfile", "math", "matrix", "next", "os",
        "package", "pairs", "pcall", "perilune", "print", "rawequal", "rawget", "rawlen", "rawset", "require", "scenario", "select",
        "setmetatable", "string", "table", "template", "tonumber", "tostring", "type", "utf8", "warn", "xpcall",
    ]

    /// Returns the existing name that is nearest to the name in a message such as `attempt to call a nil value (global 'prnt')`.
    ///
    /// - Parameter line: The source line, if known. Tables of the library suggest names themselves.
    package static func suggestion(for message: String, in line: String? = nil) -> String? {
        if let method = message.wholeMatch(of: /attempt to call a nil value \(method '([^']*)'\)/), line?.contains(/["']\):/) == true {
            return nearestName(to: String(method.1), among: strings)
        }
        guard let match = message.wholeMatch(of: /attempt to (?:call|index) a nil value \(global '([^']*)'\)/) else { return nil }
        return nearestName(to: String(match.1), among: globals)
    }

    /// The functions in Lua's `string` library, which are methods of strings.
    private static let strings = [
        "byte", "char", "dump", "find", "format", "gmatch", "gsub", "len", "lower", "match", "pack", "packsize", "rep", "reverse", "sub", "unpack",
        "upper",
    ]

    /// The names of functions removed by the sandbox, as Lua's messages contain them.
    private static let namesTakenAway = [
        "(global 'io')", "(global 'package')", "(global 'dofile')", "(global 'loadfile')",
        "(field 'execute')", "(field 'exit')", "(field 'getenv')", "(field 'remove')", "(field 'rename')", "(field 'tmpname')",
    ]

    /// Returns whether a message is about a function that the sandbox removes.
    package static func isTakenAway(_ message: String) -> Bool { namesTakenAway.contains(where: message.contains) }

    /// The methods of rows that a column can hide.
    private static let rowMethods: Set = [
        "boolean", "columns", "copy", "date", "date_components", "float", "get", "has", "integer", "julian_date", "pairs", "require",
        "storage_class", "string", "to_table", "unpack", "values", "with_blob",
    ]

    /// Returns help if a column hides the row method of the same name, as in `attempt to call a string value (method 'date')`.
    package static func help(for message: String) -> String? {
        guard let match = message.wholeMatch(of: /attempt to call a (?:string|number|boolean) value \(method '(\w+)'\)/),
            rowMethods.contains(String(match.1))
        else { return nil }
        return "a column `\(match.1)` of a row hides the method; use perilune.row.\(match.1)(row, ...)"
    }
}
