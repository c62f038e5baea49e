import ArgumentParser

/// What a command runs for.
struct ContextOptions: ParsableArguments {
    @Option(
        help: """
            For whom the command runs: live; a test, which has a frozen clock and never uses the database itself; or a \
            preview, on a private copy. Defaults to the variable PERILUNE_CONTEXT.
            """)
    var context: ContextOption?

    /// The context that the option names; else that of the process.
    ///
    /// - Throws: ``CommandFailure`` if the variable of the process names no context.
    func resolved() throws -> CommandContext { try CommandContext(context) }
}
