internal import Foundation
internal import Perilune

/// A writer of error reports to standard error, in the colors and the format that the command line requests.
struct ErrorOutput {
    let colors: Colors
    let format: ErrorFormat

    /// Finds the options without the parser, because the arguments may be invalid.
    init(_ arguments: [String] = Array(CommandLine.arguments.dropFirst())) {
        var color = ColorChoice.auto
        var format = ErrorFormat.text
        for (option, value) in Self.options(RunArguments.options(in: arguments)) {
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

    func write(_ report: ErrorReport) {
        let width = StandardStreams.isErrorTerminal ? StandardStreams.errorColumns : nil
        StandardStreams.writeError(format == .json ? report.json : report.text(colors: colors, width: width))
    }

    /// Reports a failure and ends the process; can be called from any thread. Flushes standard output only if this does not block.
    func end(at failure: CommandFailure) -> Never {
        StandardStreams.writeErrorAtOnce(format == .json ? failure.report.json : failure.report.text(colors: colors))
        _exit(failure.status)
    }
}
