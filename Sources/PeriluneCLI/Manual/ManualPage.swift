internal import Foundation

/// The manual page of a command, generated from its help.
///
/// - SeeAlso: man(7)
struct ManualPage {
    let command: CommandDescription

    /// The page name, such as `perilune-automations-list`.
    var name: String { command.words.joined(separator: "-") }
    var fileName: String { name + ".1" }

    var text: String {
        var text = ".TH \(Self.quoted(name.uppercased())) 1 \"\" \(Self.quoted("perilune \(Version.perilune)")) \"Perilune\"\n"
        text += section("NAME", Self.line("\(name) \u{2D} \(Self.sentence(command.abstract ?? ""))", isName: true))
        text += section("SYNOPSIS", synopsis)
        text += ManualText(command.discussion ?? "").sections
        text += list("ARGUMENTS", arguments.filter { $0.kind == "positional" })
        text += list("OPTIONS", arguments.filter { $0.kind != "positional" })
        text += commands
        return text + section("SEE ALSO", seeAlso)
    }

    private var arguments: [CommandDescription.Argument] { (command.arguments ?? []).filter(\.shouldDisplay) }

    private var subcommands: [CommandDescription] {
        (command.subcommands ?? []).filter { $0.shouldDisplay != false && $0.commandName != "help" }
    }

    private var synopsis: String {
        var parts = [".B \(Self.escaped(command.words.joined(separator: " ")))\n"]
        if arguments.contains(where: { $0.kind != "positional" }) { parts.append("[\\fIoptions\\fR]\n") }
        for argument in arguments where argument.kind == "positional" {
            let value = "\\fI\(Self.escaped(argument.valueName ?? "value"))\\fR" + (argument.isRepeating ? " ..." : "")
            parts.append(argument.isOptional ? "[\(value)]\n" : value + "\n")
        }
        if !subcommands.isEmpty { parts.append("\\fIcommand\\fR\n") }
        return parts.joined()
    }

    private func list(_ title: String, _ arguments: [CommandDescription.Argument]) -> String {
        guard !arguments.isEmpty else { return "" }
        return section(title, arguments.map(entry).joined())
    }

    private func entry(_ argument: CommandDescription.Argument) -> String {
        let value = "\\fI\(Self.escaped(argument.valueName ?? "value"))\\fR"
        let names = (argument.names ?? []).map { "\\fB\(Self.escaped($0.text))\\fR" }.joined(separator: ", ")
        let head = argument.kind == "positional" ? value : argument.kind == "flag" ? names : "\(names) \(value)"
        var text = [argument.abstract, argument.discussion].compactMap { $0 }.joined(separator: " ")
        if let values = argument.allValues, !values.isEmpty { text += " One of \(values.joined(separator: ", "))." }
        if let value = argument.defaultValue, argument.kind != "flag" { text += " The default is \(value)." }
        return ".TP\n\(head)\n\(Self.line(text))"
    }

    private var commands: String {
        guard !subcommands.isEmpty else { return "" }
        return section(
            "COMMANDS",
            subcommands.map { ".TP\n\\fB\(Self.escaped($0.commandName))\\fR\n\(Self.line($0.abstract ?? ""))" }.joined())
    }

    private var seeAlso: String {
        let names = subcommands.map { ManualPage(command: $0).name }
        let parent = command.words.dropLast().joined(separator: "-")
        let all = names + (names.isEmpty && !parent.isEmpty ? [parent] : [])
        return all.map { ".BR \(Self.escaped($0)) (1)" }.joined(separator: ",\n") + "\n"
    }

    private func section(_ title: String, _ body: String) -> String { ".SH \(title)\n\(body)" }

    // MARK: - The language of man pages

    /// Returns a sentence without its full stop and with a lowercase first letter, which follows the name of the command.
    private static func sentence(_ text: String) -> String {
        let text = text.hasSuffix(".") ? String(text.dropLast()) : text
        return text.prefix(1).lowercased() + text.dropFirst()
    }

    static func line(_ text: String, isName: Bool = false) -> String {
        // In the NAME section, a hyphen between blanks separates the name from its description; programs search for it.
        let escaped = isName ? text.replacing("\\", with: "\\e").replacing(" \u{2D} ", with: " \\- ") : Self.escaped(text)
        return (escaped.first == "." || escaped.first == "'" ? "\\&" : "") + escaped + "\n"
    }

    static func escaped(_ text: String) -> String {
        text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("`", with: "\\(ga").replacing("^", with: "\\(ha")
            .replacing(
                "~", with: "\\(ti")
    }

    private static func quoted(_ text: String) -> String { "\"\(escaped(text))\"" }
}

/// The discussion in the help of a command, converted to sections of a manual page.
private struct ManualText {
    private let paragraphs: [[Substring]]

    init(_ text: String) {
        paragraphs = text.split(separator: "\n", omittingEmptySubsequences: false).split { $0.allSatisfy(\.isWhitespace) }.map(
            Array.init)
    }

    /// The sections. A paragraph that starts with uppercase words and a colon starts a section; the first paragraphs are the
    /// description.
    var sections: String {
        var text = "", isDescribed = false
        for paragraph in paragraphs {
            var lines = paragraph
            if let match = lines.first?.firstMatch(of: /^([A-Z][A-Z ]+[A-Z])(?::| are| is)(?:\s+|$)/) {
                text += ".SH \(match.1)\n"
                isDescribed = true
                let rest = lines[0][match.range.upperBound...]
                lines = (rest.isEmpty ? [] : [rest]) + lines.dropFirst()
            } else if !isDescribed {
                text += ".SH DESCRIPTION\n"
                isDescribed = true
            } else {
                text += ".PP\n"
            }
            text += body(lines)
        }
        return text
    }

    /// Returns the body of a section; indented lines are kept unchanged.
    private func body(_ lines: [Substring]) -> String {
        var text = "", isExample = false
        for line in lines {
            let isIndented = line.hasPrefix("  ")
            if isIndented != isExample { text += isIndented ? ".RS 2\n.nf\n" : ".fi\n.RE\n" }
            isExample = isIndented
            text += ManualPage.line(isIndented ? String(line.dropFirst(2)) : String(line))
        }
        return text + (isExample ? ".fi\n.RE\n" : "")
    }
}
