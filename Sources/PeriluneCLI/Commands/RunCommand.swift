import ArgumentParser

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a Lua script against a database.",
        discussion: """
            The script finds the database in `db`, its arguments in `...` and `arg`, and modules in the folder of its
            file. Without --database the database is a private one in memory.

            Options stand before FILE or right after it. The first argument after FILE that is none of them, and all
            that follow, belong to the script; `--` ends the options.

            EXAMPLES:
              perilune run report.lua --database shop.sqlite 2026-03
              echo 'print(db:fetch_value("SELECT 6 * 7"))' | perilune run -
              perilune run --sandbox --timeout 2s --memory 64M untrusted.lua
              perilune run --database shop.sqlite -e 'db:execute("VACUUM")'

            A script that begins with `#!/usr/bin/env -S perilune run` can be run by its name.

            EXIT STATUS: 0 success, 1 the script failed, 5 a limit was passed, 64 wrong usage, 65 the script does not
            parse or the database is none, 74 a file cannot be used, 75 the database is locked, 130 Ctrl-C.
            """)

    @Option(
        name: .customShort("e"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Run this text, before FILE; may be given several times.", valueName: "code"))
    var code: [String] = []

    @Option(help: ArgumentHelp("The database; a file is made if there is none.", valueName: "path"))
    var database: String?

    @Flag(help: "Open the database for reading only.")
    var readonly = false

    @Flag(help: "Take away io, os, modules in files and SQL that reaches files.")
    var sandbox = false

    @Option(
        help: ArgumentHelp("End the script after so many seconds; also 500ms, 2s, 1m.", valueName: "time"),
        transform: OptionValue.duration)
    var timeout: Duration?

    @Option(
        help: ArgumentHelp("End the script when it uses more bytes than that; also 512K, 64M, 1G.", valueName: "size"),
        transform: OptionValue.size)
    var memory: Int?

    @Flag(help: "Write each SQL statement to standard error.")
    var trace = false

    @OptionGroup var common: CommonOptions

    @Argument(help: "The script; - is standard input.")
    var file: String?

    @Argument(parsing: .captureForPassthrough, help: "What the script gets as arguments.")
    var arguments: [String] = []

    func validate() throws {
        guard file != nil || !code.isEmpty else {
            throw ValidationError("expected a FILE, - for standard input, or -e CODE")
        }
        if file == "" { throw ValidationError("expected the path of a script, got nothing") }
        _ = try OptionValue.databasePath(database)
    }

    func run() async throws {
        let request = try makeRequest()
        let colours = CommandOutput.errorColours(common.color)
        if common.verbose {
            CommandOutput.note("database: \(request.database ?? "private, in memory")", colours)
            if let file { CommandOutput.note("script: \(file)", colours) }
        }
        let status = try await ScriptRunner(request: request, colours: colours).run()
        try StandardStreams.flush()
        if status != 0 { throw ExitCode(status) }
    }

    func makeRequest() throws -> ScriptRequest {
        var sources = code.enumerated().map { ScriptSource.code($1, number: $0 + 1) }
        if let file { sources.append(file == "-" ? .standardInput : .file(file)) }
        var request = ScriptRequest(sources: sources, arguments: arguments)
        request.database = try OptionValue.databasePath(database)
        request.isReadonly = readonly
        request.isSandboxed = sandbox
        request.timeout = timeout
        request.memoryInBytes = memory
        request.isTracing = trace
        return request
    }
}
