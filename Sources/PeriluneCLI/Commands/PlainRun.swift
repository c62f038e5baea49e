/// `perilune run FILE ARGUMENT...`, with no option but `--database`: as the parser of arguments would have it, which takes longer than
/// what most scripts do.
struct PlainRun {
    let file: String
    /// The value of the option.
    let database: String?
    /// Those of the script.
    let arguments: [String]

    /// - Parameter words: Those of the command.
    /// - Returns: `nil` for everything else.
    init?(_ words: [String]) {
        guard words.first == "run" else { return nil }
        let arranged = RunArguments.arranged(Array(words.dropFirst()))
        guard let end = arranged.firstIndex(of: "--"), end + 1 < arranged.count else { return nil }
        switch (end, arranged.first) {
        case (0, _): database = nil
        case (2, "--database") where !arranged[1].isEmpty && !arranged[1].hasPrefix("-"): database = arranged[1]
        default: return nil
        }
        file = arranged[end + 1]
        arguments = Array(arranged[(end + 2)...])
        // The parser has something to say about it.
        if file.isEmpty { return nil }
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
        let source = file == "-" ? ScriptSource.standardInput : .file(file)
        var request = ScriptRequest(sources: [source], arguments: RawArguments.bytes(ofLast: arguments))
        request.database = context.context == .test ? nil : DatabasePath.path(option: database)
        request.addLimitsOfSettings()
        return request
    }
}
