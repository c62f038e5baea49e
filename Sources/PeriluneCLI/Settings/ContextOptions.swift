import ArgumentParser

/// The option `--context` of a command.
struct ContextOptions: ParsableArguments {
    @Option(
        help: """
            The context: live; test, with a frozen clock and never on the database itself; or preview, on a private \
            copy. Defaults to the environment variable PERILUNE_CONTEXT, then to perilune.toml.
            """)
    var context: ContextOption?

    /// Returns the context of the option, or else of the process.
    ///
    /// - Throws: ``CommandFailure`` if the environment variable contains an invalid context.
    func resolved() throws -> CommandContext { try CommandContext(context) }

    /// The context and its source, for `--verbose`; `nil` if it is not set.
    var note: String? { Settings.note(.context, option: context?.rawValue, named: "--context") }
}

/// The option `--context` of a command that uses the database itself, and therefore refuses other contexts than live.
struct LiveContextOptions: ParsableArguments {
    @Option(
        help: """
            The context: live; in test and preview, which never use the database itself, the command is refused. Defaults \
            to the environment variable PERILUNE_CONTEXT, then to perilune.toml.
            """)
    var context: ContextOption?

    /// Returns the context of the option, or else of the process.
    ///
    /// - Throws: ``CommandFailure`` if the environment variable contains an invalid context.
    func resolved() throws -> CommandContext { try CommandContext(context) }
}
