/// `perilune run FILE ARGUMENT...`, with no option but `-e` and `--database`: as the parser of arguments would have it, which takes longer
/// than what most scripts do.
struct PlainRun {
    /// The values of `-e`.
    private(set) var code: [String] = []
    /// The value of the option.
    private(set) var database: String?
    private(set) var file: String?
    /// Those of the script.
    private(set) var arguments: [String] = []

    /// - Parameter words: Those of the command.
    /// - Returns: `nil` for everything else.
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
        // Of what is missing, or empty, the parser has something to say.
        if file?.isEmpty ?? code.isEmpty { return nil }
    }

    /// Runs the script.
    ///
    /// - Returns: Whether it has run; in a preview it needs options.
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
