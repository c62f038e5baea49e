/// A module of Swift functions that was registered.
public struct RegisteredModule: Sendable {
    /// The name that scripts require.
    public let name: String
    /// Its purpose.
    public let documentation: String
    /// Its functions, in the order in which they were added.
    public let functions: [ScriptModule.Function]

    package init(name: String, documentation: String, functions: [ScriptModule.Function]) {
        (self.name, self.documentation, self.functions) = (name, documentation, functions)
    }

    /// A file of LuaCATS annotations, by which editors know the module.
    public var annotations: String {
        var lines = ["---@meta \(name)", ""]
        lines += comment(documentation)
        lines += ["local module = {}"]
        for function in functions {
            lines.append("")
            lines += comment(function.documentation)
            let names = function.parameters.map { LuaNames.identifier($0.name) }
            lines += zip(names, function.parameters).map { "---@param \($0) \($1.type)" }
            if let result = function.result { lines.append("---@return \(result)") }
            lines.append("\(Self.assignment(of: function.name))(\(names.joined(separator: ", "))) end")
        }
        return (lines + ["", "return module", ""]).joined(separator: "\n")
    }

    private func comment(_ text: String) -> [String] {
        text.split(whereSeparator: \.isNewline).map { "--- \($0)" }
    }

    /// `function module.send`, or an equivalent for a name that is not an identifier.
    private static func assignment(of name: String) -> String {
        LuaNames.isIdentifier(name) ? "function module.\(name)" : "module[\(LuaNames.literal(name))] = function"
    }
}

/// How names are written in Lua.
private enum LuaNames {
    static func isIdentifier(_ name: String) -> Bool {
        name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil && !keywords.contains(name)
    }

    /// The name, or the nearest name that a parameter can have.
    static func identifier(_ name: String) -> String {
        if name == "..." || isIdentifier(name) { return name }
        let text = name.replacing(/[^A-Za-z0-9_]/, with: "_")
        return isIdentifier(text) ? text : "_\(text)"
    }

    static func literal(_ text: String) -> String {
        let bytes = text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): "\\\(Character(UnicodeScalar(byte)))"
            case 0x20..<0x7F: String(UnicodeScalar(byte))
            default: "\\" + String(repeating: "0", count: byte < 10 ? 2 : byte < 100 ? 1 : 0) + "\(byte)"
            }
        }
        return "\"\(bytes.joined())\""
    }

    private static let keywords: Set<String> = [
        "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil", "not", "or",
        "repeat", "return", "then", "true", "until", "while",
    ]
}
