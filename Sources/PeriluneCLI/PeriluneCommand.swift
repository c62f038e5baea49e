import ArgumentParser
internal import Foundation
internal import Perilune
internal import PeriluneDependencies
internal import PeriluneRecords

/// The command `perilune`.
struct PeriluneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "perilune",
        abstract: "Run Lua scripts against SQLite databases.",
        discussion: """
            Data goes to standard output, everything else to standard error. Without
            arguments, on a terminal, `perilune` is `perilune console`.

            EXAMPLES:
              perilune run report.lua --database shop.sqlite
              perilune run -e 'print(db:fetch_value("SELECT sqlite_version()"))'
              perilune console shop.sqlite
              perilune query --database shop.sqlite 'SELECT * FROM customer'
              perilune migrate --database shop.sqlite --status
              perilune test
              perilune help db:fetch_all
            """.paragraphs,
        version: Version.perilune,
        subcommands: [
            RunCommand.self, WatchCommand.self, ConsoleCommand.self, QueryCommand.self, ChartCommand.self, ImportCommand.self, SchemaCommand.self, DumpCommand.self,
            RestoreCommand.self, ApplyCommand.self, MigrateCommand.self, NewMigrationCommand.self, AutomationsCommand.self, TestCommand.self, TypesCommand.self, InitCommand.self, SettingsCommand.self,
            DoctorCommand.self, CompletionCommand.self, ManualCommand.self, VersionCommand.self,
        ])
}

@main
enum Main {
    // Runs on the main thread before others exist: access to files can only be restricted for threads created later.
    @MainActor static func main() async {
        DependencyContainer.Context.setOwnProgram()
        StandardStreams.endOnClosedPipe()
        SQLiteTuning.disableMemoryStatistics()
        let words = Array(CommandLine.arguments.dropFirst())
        // The help command has no other options.
        let arguments = words.first == "help" ? words.filter { $0 != HelpTopic.noPager } : words
        do {
            try ProcessResources.check()
            let plain = PlainRun(arguments)
            if plain == nil {
                if try HelpTopic.write(for: arguments, isPaged: !words.contains(HelpTopic.noPager), commands: commandNames) { return }
                try requireKnownCommand(arguments)
            }
            if plain != nil || !ignoringSettings.contains(arguments.first ?? "") { try Settings.require() }
            if let plain, try await plain.run() { return }
            var command = try parse(arranged(arguments))
            if SupervisedRun.isOngoing, let command = command as? any IsolatingCommand { try SupervisedRun.enclose(command) }
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            ErrorEnding(words).exit(with: error)
        }
    }

    /// The commands that work even with an invalid settings file. Completion requests, which start with `---`, do so too.
    private static let ignoringSettings: Set<String> = [
        "help", "--help", "-h", "--version", "version", "init", "types", "completion", "manual", "---completion",
    ]

    private static var commandNames: [String] {
        PeriluneCommand.configuration.subcommands.compactMap { $0.configuration.commandName }
    }

    /// Returns the command requested by the arguments.
    private static func parse(_ arguments: [String]) throws -> any ParsableCommand {
        // Parsing only the subcommand takes two thirds of the time, which dominates short scripts. Errors and help still come from
        // the whole command.
        let subcommand = PeriluneCommand.configuration.subcommands.first { $0.configuration.commandName == arguments.first }
        if let subcommand, subcommand.configuration.subcommands.isEmpty,
            let command = try? subcommand.parseAsRoot(Array(arguments.dropFirst()))
        {
            return command
        }
        return try PeriluneCommand.parseAsRoot(arguments)
    }

    private static func arranged(_ arguments: [String]) -> [String] {
        let rest = Array(arguments.dropFirst())
        return switch arguments.first {
        case "run": ["run"] + RunArguments.arranged(rest)
        case "query", "chart": [arguments[0]] + QueryArguments.arranged(rest)
        case "test": ["test"] + TestArguments.arranged(rest)
        case "migrate" where rest.first == "new": ["migrate-new"] + rest.dropFirst()
        case "help" where rest.first == "migrate": ["help"] + arranged(rest)
        // On a terminal, start the console.
        case nil where StandardStreams.isInputTerminal && StandardStreams.isOutputTerminal: ["console"]
        default: arguments
        }
    }

    /// Throws if the first argument is not a subcommand, recursively for nested subcommands.
    private static func requireKnownCommand(
        _ arguments: [String], of command: any ParsableCommand.Type = PeriluneCommand.self, named place: String = "perilune"
    ) throws {
        let subcommands = command.configuration.subcommands
        guard !subcommands.isEmpty, let name = arguments.first, !name.hasPrefix("-") else { return }
        if name == "help", place == "perilune" { return try requireKnownCommand(Array(arguments.dropFirst())) }
        if let subcommand = subcommands.first(where: { $0.configuration.commandName == name }) {
            return try requireKnownCommand(Array(arguments.dropFirst()), of: subcommand, named: "\(place) \(name)")
        }
        // Closures, because Swift 6.3 crashes on a key path to a static member.
        let shown = subcommands.map { $0.configuration }.filter { $0.shouldDisplay }
        throw CommandFailure(report(unknown: name, among: shown.compactMap { $0.commandName }, of: place))
    }

    private static func report(unknown name: String, among names: [String], of place: String) -> ErrorReport {
        var report = ErrorReport("unknown command \(place == "perilune" ? name : "\(place) \(name)")", kind: "usage")
        let available = names + ["help"]
        report.suggest(
            name, among: available,
            otherwise: name.hasSuffix(".lua")
                ? "did you mean `\(place) run \(name)`?" : "available: " + available.joined(separator: ", "))
        return report
    }
}

/// The end of the process after an error, with its report.
struct ErrorEnding {
    private let colors: Colors
    private let format: ErrorFormat
    /// The arguments that may be options of the command.
    private let arguments: [String]

    /// Searches for the options without the parser, because the arguments may be invalid.
    init(_ arguments: [String] = Array(CommandLine.arguments.dropFirst())) {
        var color = ColorChoice.auto
        var format = ErrorFormat.text
        let own = arguments.first == "run" ? RunArguments.arranged(Array(arguments.dropFirst())) : arguments
        self.arguments = Array(own.prefix { $0 != "--" })
        for (option, value) in Self.options(self.arguments) {
            if option == "--color" { color = ColorChoice(rawValue: value) ?? color }
            if option == "--error-format" { format = ErrorFormat(rawValue: value) ?? format }
        }
        colors = CommandOutput.errorColors(color)
        self.format = format
    }

    private static func options(_ arguments: [String]) -> [(String, String)] {
        zip(arguments, arguments.dropFirst() + [""]).map { argument, next in
            guard let equals = argument.firstIndex(of: "=") else { return (argument, next) }
            return (String(argument[..<equals]), String(argument[argument.index(after: equals)...]))
        }
    }

    func exit(with error: any Error) -> Never {
        if let code = error as? ExitCode { finish(code.rawValue) }
        if let failure = error as? CommandFailure {
            write(failure.report)
            finish(failure.status)
        }
        let status = PeriluneCommand.exitCode(for: error).rawValue
        let text = withSuggestion(PeriluneCommand.fullMessage(for: error), status)
        if status == 0 {
            // Help and similar output.
            let isHelp = arguments.contains { ["help", "--help", "-h"].contains($0) } && !arguments.contains(HelpTopic.noPager)
            if !isHelp || !StandardStreams.isOutputTerminal || !Pager.show(text + "\n") {
                try? StandardStreams.write(Array((text + "\n").utf8))
            }
        } else if format == .json {
            write(ErrorReport(withSuggestion(PeriluneCommand.message(for: error), status), kind: "usage"))
        } else {
            StandardStreams.writeError(Self.withOurPrefix(text, colors) + "\n")
        }
        finish(status)
    }

    /// Adds suggestions for options of all commands, which the parser omits: `--help` for `--hlep`.
    private func withSuggestion(_ text: String, _ status: Int32) -> String {
        guard status != 0 else { return text }
        if let match = text.firstMatch(of: /Unknown option '(--[^']+)'(\. Did you mean '--[^']+'\?)?/) {
            guard let nearest = nearestName(to: String(match.1), among: ["--help", "--version"]) else { return text }
            return text.replacingCharacters(in: match.range, with: "Unknown option '\(match.1)'. Did you mean '\(nearest)'?")
        }
        // The parser reports a missing argument instead of the misspelled option.
        let misspelt = arguments.first { $0 != "--help" && $0.hasPrefix("--") && nearestName(to: $0, among: ["--help"]) != nil }
        guard let misspelt else { return text }
        let usage = text.range(of: "\nUsage:").map { text[$0.lowerBound...] } ?? ""
        return (text.hasPrefix("Error: ") ? "Error: " : "") + "Unknown option '\(misspelt)'. Did you mean '--help'?" + usage
    }

    private func write(_ report: ErrorReport) {
        let width = StandardStreams.isErrorTerminal ? StandardStreams.errorColumns : nil
        StandardStreams.writeError(format == .json ? report.json : report.text(colors: colors, width: width))
    }

    private static func withOurPrefix(_ text: String, _ colors: Colors) -> String {
        text.hasPrefix("Error: ") ? colors.red("error:") + " " + text.dropFirst("Error: ".count) : text
    }

    /// Ends the process from any thread. Flushes standard output only if this does not block.
    func end(at failure: CommandFailure) -> Never {
        StandardStreams.writeErrorAtOnce(format == .json ? failure.report.json : failure.report.text(colors: colors))
        _exit(failure.status)
    }

    /// Ends the process, with an error status if the output cannot be written.
    private func finish(_ status: Int32) -> Never {
        do {
            try StandardStreams.flush()
        } catch let failure as CommandFailure where status == 0 {
            write(failure.report)
            Foundation.exit(failure.status)
        } catch {}
        Foundation.exit(status)
    }
}
