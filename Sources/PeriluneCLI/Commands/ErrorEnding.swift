import ArgumentParser
internal import Foundation
internal import Perilune
internal import PeriluneRecords

/// A handler for errors that end a command: reports the error and exits the process.
struct ErrorEnding {
    private let output: ErrorOutput
    /// The arguments that may be options of the command itself, without the arguments of a script.
    private let arguments: [String]
    /// The name of the command; `nil` if the command line begins with an option.
    private let command: String?
    /// An option directly after the path of a script, which may be meant for the script.
    private let optionAfterScript: String?

    init(_ words: [String]) {
        arguments = RunArguments.options(in: words)
        command = words.first.flatMap { $0.hasPrefix("-") ? nil : $0 }
        optionAfterScript =
            ["run", "watch"].contains(command) ? RunArguments.unknownOption(in: Array(words.dropFirst())) : nil
        output = ErrorOutput(words)
    }

    func exit(with error: any Error) -> Never {
        if let code = error as? ExitCode { finish(code.rawValue) }
        if let failure = error as? CommandFailure {
            output.write(failure.report)
            finish(failure.status)
        }
        let status = PeriluneCommand.exitCode(for: error).rawValue
        // The parser knows `migrate new` by another name.
        let text = withSuggestion(PeriluneCommand.fullMessage(for: error), status)
            .replacing("'perilune migrate-new --help'", with: "'perilune migrate new --help'")
        if status == 0 {
            // The parser throws help and version texts as errors with status 0.
            let isHelp = arguments.contains { ["help", "--help", "-h"].contains($0) } && !arguments.contains(HelpTopic.noPager)
            if !isHelp || !StandardStreams.isOutputTerminal || !Pager.show(text + "\n") {
                try? StandardStreams.write(Array((text + "\n").utf8))
            }
        } else if output.format == .json {
            output.write(ErrorReport(withSuggestion(PeriluneCommand.message(for: error), status), kind: "usage"))
        } else {
            StandardStreams.writeError(Self.withOurPrefix(text, output.colors) + "\n")
        }
        finish(status)
    }

    /// Adds suggestions that the parser omits, such as `--help` for `--hlep` or `--database` for `--db`.
    private func withSuggestion(_ text: String, _ status: Int32) -> String {
        guard status != 0 else { return text }
        if let match = text.firstMatch(of: /Unknown option '(--?[^']+)'(?:\. Did you mean '(--[^']+)'\?)?/) {
            return text.replacingCharacters(
                in: match.range, with: unknownOption(String(match.1), nearest: match.2.map(String.init)))
        }
        let usage = text.range(of: "\nUsage:").map { text[$0.lowerBound...] } ?? ""
        if text.prefixMatch(of: /(?:Error: )?(?:Unexpected argument|[0-9]+ unexpected arguments:) '/) != nil,
            let advice = adviceOnArguments
        {
            return text.dropLast(usage.count) + ". \(advice)" + usage
        }
        if text.contains("expected --database PATH"), let file = databaseArgument {
            return text.dropLast(usage.count) + "; \(file) is an argument of \(command ?? ""). Use '--database \(file)'" + usage
        }
        if let match = text.firstMatch(of: /The value '([^']+)' is invalid for '--format <format>'\./),
            let format = OtherNames.option("--\(match.1)", of: command), format.hasPrefix("--format "),
            Self.isListed(format.dropFirst("--format ".count), in: text[match.range.upperBound...])
        {
            return text.replacingCharacters(in: match.range, with: "\(match.0) Use '\(format)'.")
        }
        // A statement after an option of sqlite3 is taken for the file of the console.
        if text.contains("the database is given twice"),
            let name = arguments.first(where: { OtherNames.missing($0, of: command) != nil })
        {
            return (text.hasPrefix("Error: ") ? "Error: " : "") + unknownOption(name, nearest: nil) + usage
        }
        // If an argument is missing, the parser reports that instead of the unknown option.
        if text.contains("Missing expected argument"), let name = firstUnknownOption {
            return (text.hasPrefix("Error: ") ? "Error: " : "") + unknownOption(name, nearest: nil) + usage
        }
        let misspelt = arguments.first { $0 != "--help" && $0.hasPrefix("--") && nearestName(to: $0, among: ["--help"]) != nil }
        guard let misspelt else { return text }
        return (text.hasPrefix("Error: ") ? "Error: " : "") + "Unknown option '\(misspelt)'. Did you mean '--help'?" + usage
    }

    /// Returns whether the parser lists a value: `- table` in a line of its own, or `'table'`.
    private static func isListed(_ value: Substring, in text: Substring) -> Bool {
        text.contains("'\(value)'")
            || text.split(separator: "\n").contains { $0.trimmingCharacters(in: .whitespaces) == "- \(value)" }
    }

    private var firstUnknownOption: String? {
        guard let command, !(command == "migrate" && arguments.dropFirst().first == "new") else { return nil }
        let names = arguments.filter { $0.hasPrefix("--") }.map { String($0.prefix { $0 != "=" }) }
        return names.first { $0 != "--help" && !PeriluneCommand.has($0, command: command) }
    }

    /// The first argument that is the path of an existing or new database, or `nil`.
    private var databaseArgument: String? {
        let words = arguments.dropFirst()
        if let existing = words.first(where: { !$0.hasPrefix("-") && DatabaseFile.isDatabase($0) }) { return existing }
        return zip(words.dropFirst(), words).first { word, previous in
            // The value of an option, as in `--output copy.db`, is not an argument.
            !word.hasPrefix("-") && !previous.hasPrefix("-")
                && ["sqlite", "sqlite3", "db"].contains(OutputDestination.format(of: word))
        }?.0
    }

    /// Advice on a command line with too many arguments, or `nil`.
    private var adviceOnArguments: String? {
        guard let command else { return nil }
        if let database = databaseArgument, command != "console", !arguments.contains("--database"),
            PeriluneCommand.has("--database", command: command)
        {
            return "Use '--database \(database)'"
        }
        switch command {
        case "migrate" where ["generate", "create", "add", "make"].contains(arguments.dropFirst().first):
            return "Use 'perilune migrate new NAME'"
        case "automations" where arguments.dropFirst().first == "status":
            return "The status comes from the database, so it needs no file of automations"
        case "settings": return "All settings are shown. They are set in perilune.toml"
        case "console": return "Statements are read from standard input"
        case "dump": return "A dump has one table, or all"
        case "query", "chart": return "Use '-p 1=VALUE' or '-p NAME=VALUE' for the value of a parameter"
        default: return nil
        }
    }

    /// Returns the message about an unknown option, with its replacement.
    ///
    /// - Parameter nearest: The parser's suggestion.
    private func unknownOption(_ name: String, nearest: String?) -> String {
        var message = "Unknown option '\(name)'"
        let isDown = command == "migrate" && arguments.contains("--down")
        if let sentence = OtherNames.missing(isDown ? "--down \(name)" : name, of: command) {
            message += ". \(sentence)"
        } else if let use = OtherNames.option(name, of: command) {
            message += ". Use '\(use)'"
        } else if let nearest = name.hasPrefix("--") ? nearestName(to: name, among: ["--help", "--version"]) ?? nearest : nearest
        {
            message += ". Did you mean '\(nearest)'?"
        }
        guard let optionAfterScript, optionAfterScript.prefix(while: { $0 != "=" }) == name else { return message }
        return message + (message.hasSuffix("?") ? "" : ".") + " Options of the script come after '--'"
    }

    private static func withOurPrefix(_ text: String, _ colors: Colors) -> String {
        text.hasPrefix("Error: ") ? colors.red("error:") + " " + text.dropFirst("Error: ".count) : text
    }

    /// Ends the process, with an error status if the output cannot be written.
    private func finish(_ status: Int32) -> Never {
        OpenHosts.close()
        do {
            try StandardStreams.flush()
        } catch let failure as CommandFailure where status == 0 {
            output.write(failure.report)
            Foundation.exit(failure.status)
        } catch {}
        Foundation.exit(status)
    }
}
