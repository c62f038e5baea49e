import ArgumentParser
internal import Foundation
internal import Perilune
internal import PeriluneCluster
internal import PeriluneDependencies
internal import PeriluneRecords

/// The entry point of the command.
@main
enum Main {
    // Runs on the main thread before other threads exist, because file access can be restricted only for threads created later.
    @MainActor static func main() async {
        DependencyContainer.Context.setOwnProgram()
        Clusters.enable()
        StandardStreams.endOnClosedPipe()
        SQLiteTuning.disableMemoryStatistics()
        let words = Array(CommandLine.arguments.dropFirst())
        // The help command has no other options.
        let arguments = words.first == "help" ? words.filter { $0 != HelpTopic.noPager } : words
        do {
            try await run(arguments, words)
            OpenHosts.close()
        } catch {
            ErrorEnding(words).exit(with: error)
        }
    }

    /// Runs the command.
    ///
    /// - Parameter words: The original arguments, before `--no-pager` was removed.
    @MainActor private static func run(_ arguments: [String], _ words: [String]) async throws {
        try ProcessResources.check()
        if let late = LateOptions(arguments) { throw CommandFailure(late.report) }
        let plain = PlainRun(arguments)
        if plain == nil {
            let isWritten = try HelpTopic.write(
                for: arguments, isPaged: !words.contains(HelpTopic.noPager), commands: commands,
                help: { PeriluneCommand.helpMessage(for: $0) })
            if isWritten { return }
            try requireKnownCommand(arguments)
            try requireTwoDashes(arguments)
        }
        if plain != nil || !ignoringSettings.contains(arguments.first ?? "") {
            try Settings.require()
            if let note = Settings.noteOnIgnoredFile, !SupervisedRun.isOngoing {
                CommandOutput.note(note, CommandOutput.errorColors(.auto))
            }
        }
        if let plain, try await plain.run() { return }
        var command = try parse(arranged(arguments))
        if SupervisedRun.isOngoing, let command = command as? any IsolatingCommand { try SupervisedRun.enclose(command) }
        if var command = command as? any AsyncParsableCommand {
            try await command.run()
        } else {
            try command.run()
        }
    }

    /// The commands that work even with an invalid settings file. Requests for shell completion, which start with `---`, do so too.
    private static let ignoringSettings: Set<String> = [
        "help", "--help", "-h", "--version", "version", "init", "types", "completion", "manual", "---completion",
    ]

    /// The subcommands by name.
    private static var commands: [String: any ParsableCommand.Type] {
        PeriluneCommand.configuration.subcommands.reduce(into: [:]) { commands, command in
            if let name = command.configuration.commandName { commands[name] = command }
        }
    }

    /// Returns the command requested by the arguments.
    private static func parse(_ arguments: [String]) throws -> any ParsableCommand {
        // Parsing only the subcommand takes two thirds of the time, which matters for short scripts. Errors and help still come from the
        // whole command.
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

    /// Rejects an unknown subcommand, recursively for nested subcommands.
    private static func requireKnownCommand(
        _ arguments: [String], of command: any ParsableCommand.Type = PeriluneCommand.self, named place: String = "perilune"
    ) throws {
        let subcommands = command.configuration.subcommands
        guard !subcommands.isEmpty, let name = arguments.first, !name.hasPrefix("-") else { return }
        if name == "help", place == "perilune" { return try requireKnownCommand(Array(arguments.dropFirst())) }
        if let subcommand = subcommands.first(where: { $0.configuration.commandName == name }) {
            return try requireKnownCommand(Array(arguments.dropFirst()), of: subcommand, named: "\(place) \(name)")
        }
        // These are closures, because Swift 6.3 crashes on a key path to a static member.
        let shown = subcommands.map { $0.configuration }.filter { $0.shouldDisplay }
        throw CommandFailure(report(unknown: name, among: shown.compactMap { $0.commandName }, of: place))
    }

    /// Rejects options such as `-header`, and `migrate --version NAME`, for which the parser would only print the version.
    private static func requireTwoDashes(_ arguments: [String]) throws {
        guard let command = arguments.first, command != "help", !command.hasPrefix("-") else { return }
        let options = RunArguments.options(in: arguments)
        let isVersion = command == "migrate" && options.contains("--version") && options.count > 2
        guard let option = isVersion ? "--version" : OtherNames.wordWithOneDash(in: options) else { return }
        var report = ErrorReport("unknown option \(option)", kind: "usage")
        report.help =
            OtherNames.option(option, of: command).map { "use `\($0)`" }
            ?? "options of more than one letter begin with two dashes; `perilune help \(command)` lists them"
        throw CommandFailure(report)
    }

    private static func report(unknown name: String, among names: [String], of place: String) -> ErrorReport {
        var report = ErrorReport("unknown command \(place == "perilune" ? name : "\(place) \(name)")", kind: "usage")
        let available = names + ["help"]
        let isDatabase = place == "perilune" && DatabaseFile.isDatabase(name)
        report.help =
            isDatabase
            ? "use `perilune console \(name)`, or `perilune query --database \(name) SQL`"
            : place == "perilune" && name.contains(where: \.isWhitespace) && ConsoleInput(name).isSQL
                ? "use `perilune query SQL`"
                : OtherCommands.replacement(for: "\(place) \(name)".replacing("perilune ", with: "", maxReplacements: 1))
        if report.help != nil { return report }
        report.suggest(
            name, among: available,
            otherwise: name.hasSuffix(".lua")
                ? "did you mean `\(place) run \(name)`?" : "available: " + available.joined(separator: ", "))
        return report
    }
}
