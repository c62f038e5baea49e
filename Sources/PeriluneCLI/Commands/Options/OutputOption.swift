import ArgumentParser

/// The destination of a command's result.
struct OutputOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Write to a file, replacing an existing one, instead of standard output, which is also -.", valueName: "file"))
    var output: String?

    func validate() throws {
        if output?.isEmpty == true { throw ValidationError("--output: expected the path of a file, got nothing") }
    }

    /// - Throws: ``CommandFailure`` if the file cannot be written.
    func open() throws -> OutputDestination { try OutputDestination(output) }
}
