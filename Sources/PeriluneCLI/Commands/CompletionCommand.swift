import ArgumentParser
internal import Perilune

/// The command `perilune completion`.
struct CompletionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completion",
        abstract: "Write the script by which a shell completes commands, options and names.",
        discussion: """
            Also completed are the tables of the database, migrations, and scenarios.

            EXAMPLES:
              source <(perilune completion bash)
              perilune completion bash > \\
                ~/.local/share/bash-completion/completions/perilune
              perilune completion zsh > ~/.zfunc/_perilune
              perilune completion fish > ~/.config/fish/completions/perilune.fish
            """.paragraphs)

    /// The shells for which completion scripts exist.
    enum Shell: String, CaseIterable, ExpressibleByArgument, Sendable {
        case bash, zsh, fish

        var completionShell: CompletionShell {
            switch self {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        }
    }

    @Argument(help: "The shell: bash, zsh or fish.")
    var shell: Shell

    func run() throws {
        try StandardStreams.write(Array((PeriluneCommand.completionScript(for: shell.completionShell) + "\n").utf8))
        try StandardStreams.flush()
    }
}
