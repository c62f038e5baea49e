import ArgumentParser
internal import Foundation
internal import Perilune
internal import PeriluneRecords

/// A handler for errors that end a command: reports the error and exits the process.
struct ErrorEnding {
    private let output: ErrorOutput
    /// The arguments that may be options of the command itself, without the arguments of a script.
    private let arguments: [String]

    init(_ arguments: [String]) {
        self.arguments = RunArguments.options(in: arguments)
        output = ErrorOutput(arguments)
    }

    func exit(with error: any Error) -> Never {
        if let code = error as? ExitCode { finish(code.rawValue) }
        if let failure = error as? CommandFailure {
            output.write(failure.report)
            finish(failure.status)
        }
        let status = PeriluneCommand.exitCode(for: error).rawValue
        let text = withSuggestion(PeriluneCommand.fullMessage(for: error), status)
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
        if let match = text.firstMatch(of: /Unknown option '(--?[^']+)'(\. Did you mean '--[^']+'\?)?/),
            let use = OtherNames.option(String(match.1), of: arguments.first)
        {
            return text.replacingCharacters(in: match.range, with: "Unknown option '\(match.1)'\(use)")
        }
        if let match = text.firstMatch(of: /Unknown option '(--[^']+)'(\. Did you mean '--[^']+'\?)?/) {
            guard let nearest = nearestName(to: String(match.1), among: ["--help", "--version"]) else { return text }
            return text.replacingCharacters(in: match.range, with: "Unknown option '\(match.1)'. Did you mean '\(nearest)'?")
        }
        // If an argument is missing, the parser reports that instead of the misspelled option.
        let misspelt = arguments.first { $0 != "--help" && $0.hasPrefix("--") && nearestName(to: $0, among: ["--help"]) != nil }
        guard let misspelt else { return text }
        let usage = text.range(of: "\nUsage:").map { text[$0.lowerBound...] } ?? ""
        return (text.hasPrefix("Error: ") ? "Error: " : "") + "Unknown option '\(misspelt)'. Did you mean '--help'?" + usage
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
