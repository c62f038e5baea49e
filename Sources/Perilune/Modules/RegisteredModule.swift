/// A module of Swift functions that was registered for scripts.
public struct RegisteredModule: Sendable {
    /// The module name, for `require`.
    public let name: String
    /// A description of the module for people.
    public let documentation: String
    /// The functions, in the order in which they were added.
    public let functions: [ScriptModule.Function]

    package init(name: String, documentation: String, functions: [ScriptModule.Function]) {
        (self.name, self.documentation, self.functions) = (name, documentation, functions)
    }

    /// The contents of a LuaCATS annotation file that describes the module to editors.
    public var annotations: String {
        var lines = ["---@meta \(name)", ""] + LuaAnnotations.comment(documentation) + ["local module = {}"]
        for function in functions {
            lines += LuaAnnotations.function(
                LuaNames.isIdentifier(function.name)
                    ? "function module.\(function.name)" : "module[\(LuaNames.literal(function.name))] = function",
                function.documentation, function.parameters, function.result)
        }
        return (lines + ["", "return module", ""]).joined(separator: "\n")
    }
}

/// The documentation of a property or method of a ``ScriptObject``.
struct ScriptMember {
    let name: String
    let documentation: String
    let parameters: [ScriptModule.Parameter]
    let result: String?
    let isProperty: Bool
}

/// A generator for LuaCATS annotations.
enum LuaAnnotations {
    static func comment(_ text: String) -> [String] {
        text.split(whereSeparator: \.isNewline).map { "--- \($0)" }
    }

    /// Returns the lines of an annotated function with an empty body, after an empty line.
    static func function(_ head: String, _ documentation: String, _ parameters: [ScriptModule.Parameter], _ result: String?)
        -> [String]
    {
        let names = parameters.map { LuaNames.identifier($0.name) }
        return [""] + comment(documentation) + zip(names, parameters).map { "---@param \($0) \($1.type)" }
            + (result.map { ["---@return \($0)"] } ?? []) + ["\(head)(\(names.joined(separator: ", "))) end"]
    }

    static func text(ofClass name: String, _ members: [ScriptMember]) -> String {
        var lines = ["---@meta", "", "---@class \(name)"]
        for member in members where member.isProperty {
            let text = member.documentation.split(whereSeparator: \.isNewline).joined(separator: " ")
            lines.append("---@field \(member.name) \(member.result ?? "any")" + (text.isEmpty ? "" : " \(text)"))
        }
        lines.append("local object = {}")
        for member in members where !member.isProperty {
            lines += function("function object:\(member.name)", member.documentation, member.parameters, member.result)
        }
        return (lines + [""]).joined(separator: "\n")
    }
}

/// Conversions of names to valid Lua source text.
private enum LuaNames {
    static func isIdentifier(_ name: String) -> Bool {
        name.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil && !keywords.contains(name)
    }

    /// Returns the name if it is a valid parameter name, or else a similar valid name.
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
        "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil", "not",
        "or",
        "repeat", "return", "then", "true", "until", "while",
    ]
}
