/// A fast path for `perilune run FILE ARGUMENT...` without options other than `-e` and `--database`. The result is the same as with the
/// argument parser, which takes longer than most scripts.
struct PlainRun {
    /// The values of `-e`.
    private(set) var code: [String] = []
    /// The value of `--database`.
    private(set) var database: String?
    private(set) var file: String?
    /// The arguments of the script.
    private(set) var arguments: [String] = []

    /// - Parameter words: The words of the command line.
    /// - Returns: `nil` for command lines that need the argument parser.
    init?(_ words: [String]) {
        guard words.first == "run" else { return nil }
        var rest = RunArguments.arranged(Array(words.dropFirst()))[...]
        while let option = rest.first, option != "--" {
            guard rest.count > 1 else { return nil }
            let value = rest[rest.startIndex + 1]
            if value == "--" { return nil }
            switch option {
            case "-e": code.append(value)
            case "--database" where database == nil && !value.isEmpty && !value.hasPrefix("-"): database = value
            default: return nil
            }
            rest = rest.dropFirst(2)
        }
        if rest.first == "--" {
            file = rest.dropFirst().first
            arguments = Array(rest.dropFirst(2))
        }
        // Leave missing and empty values to the argument parser, which reports them.
        if file?.isEmpty ?? code.isEmpty { return nil }
    }

    /// Runs the script.
    ///
    /// - Returns: `false` if the script did not run because the context is a preview, which needs the full options.
    func run() async throws -> Bool {
        let context = try CommandContext(nil)
        guard context.context != .preview else { return false }
        let colors = CommandOutput.errorColors(.auto)
        try await RunCommand.run(makeRequest(in: context), in: context, database: DatabasePath.path(option: database), colors)
        return true
    }

    func makeRequest(in context: CommandContext) -> ScriptRequest {
        var request = ScriptRequest(
            code: code, file: file, arguments: arguments, database: DatabasePath.path(option: database), in: context)
        request.addSettings()
        return request
    }
}
