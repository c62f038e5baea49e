import ArgumentParser

/// The output format of errors.
enum ErrorFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    case text, json
}

/// The options for messages, colors and errors that most commands share.
struct CommonOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Write details, such as the database in use, to standard error.")
    var verbose = false

    @Option(help: "When to use colors; NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE also apply.")
    var color = ColorChoice.auto

    @Option(help: "The format of errors on standard error.")
    var errorFormat = ErrorFormat.text

    var errorColors: Colors { CommandOutput.errorColors(color) }
    var outputColors: Colors { CommandOutput.outputColors(color) }
}
