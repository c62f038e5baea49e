import ArgumentParser

/// How errors are written.
enum ErrorFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    case text, json
}

/// What all commands that run something have in common: what they say besides their data, and how.
struct CommonOptions: ParsableArguments {
    @Flag(name: .shortAndLong, help: "Say on standard error which database is used, and more.")
    var verbose = false

    @Option(help: "When to use colors; NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE count, too.")
    var color = ColorChoice.auto

    @Option(help: "How errors are written to standard error.")
    var errorFormat = ErrorFormat.text

    var errorColors: Colors { CommandOutput.errorColors(color) }
    var outputColors: Colors { CommandOutput.outputColors(color) }
}
