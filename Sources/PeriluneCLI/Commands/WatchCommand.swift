import ArgumentParser

/// The command `perilune watch FILE`, short for `perilune run --watch FILE`.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Run a Lua script, and rerun it whenever it or a file that it uses changes.",
        usage: "perilune watch [<options of run>] <file> [<arguments>]",
        discussion: """
            Each run has a process of its own. Watched are the script, the modules that it
            requires, also those that are not found, files of dofile and loadfile, and
            perilune.toml. A run that has not ended is ended first: what it has begun is
            rolled back. Ctrl-C ends it all.

            Takes the options of `perilune run`, such as --database and --preview.

            EXAMPLES:
              perilune watch report.lua --database shop.sqlite
              perilune watch --preview close_month.lua
            """.paragraphs)

    @Argument(
        parsing: .captureForPassthrough, help: "The script, with options and arguments as for run.",
        completion: .file(extensions: ["lua"]))
    var arguments: [String] = []

    /// Reports parse errors as errors of `watch`, because the user did not type `run`.
    func validate() throws {
        do {
            _ = try command()
        } catch  where arguments.contains("--help") || arguments.contains("-h") {
            throw CleanExit.helpRequest(self)
        } catch {
            throw ValidationError(RunCommand.message(for: error))
        }
    }

    func run() async throws {
        try await command().run()
    }

    private func command() throws -> RunCommand {
        try RunCommand.parse(["--watch"] + RunArguments.arranged(arguments))
    }
}
