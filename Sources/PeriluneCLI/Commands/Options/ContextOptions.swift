import ArgumentParser

/// What a command runs for.
struct ContextOptions: ParsableArguments {
    @Option(
        help: """
            The context: live; test, with a frozen clock and never on the database itself; or preview, on a private \
            copy. Defaults to the environment variable PERILUNE_CONTEXT, then to perilune.toml.
            """)
    var context: ContextOption?

    /// The context that the option names; else that of the process.
    ///
    /// - Throws: ``CommandFailure`` if the variable of the process names no context.
    func resolved() throws -> CommandContext { try CommandContext(context) }

    /// The context and what has set it, for `--verbose`; `nil` if nothing has.
    var note: String? { Settings.note(.context, option: context?.rawValue, named: "--context") }
}
