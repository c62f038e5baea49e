import ArgumentParser
internal import Perilune

struct RunCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a Lua script against a database.",
        discussion: """
            The script finds the database in `db`, its arguments in `...` and `arg`, and
            modules in the folder of its file. Without --database the database is a private
            one in memory.

            Options stand before FILE or right after it. The first argument after FILE that
            is none of them, and all that follow, belong to the script; `--` ends the
            options.

            EXAMPLES:
              perilune run report.lua --database shop.sqlite 2026-03
              echo 'print(db:fetch_value("SELECT 6 * 7"))' | perilune run -
              perilune run --sandbox --timeout 2s --memory 64M untrusted.lua
              perilune run --database shop.sqlite -e 'db:execute("VACUUM")'

            A script that begins with `#!/usr/bin/env -S perilune run` can be run by its
            name.

            PREVIEW: With --preview the script runs for real, but on a private copy of the
            database, and a report says what it would change: rows before and after, and
            the schema. The database itself is only read. In a preview a script can open no
            other database files, change no files and run no programs; --allow-effects lets
            it do the latter two for real. --save keeps the changes as a plan for `perilune
            apply`. With --format json the report is all that goes to standard output; what
            the script prints goes to standard error.

              perilune run close_month.lua --database shop.sqlite --preview --save month.plan
              perilune run nightly.lua --database shop.sqlite --preview --check || echo "there is work to do"

            TRACE: --trace shows each SQL statement as it begins, --trace profile as it
            ends, with its time. --slow 100ms tells at the end which statements took that
            long, and how SQLite ran them.

            EXIT STATUS: 0 success, 1 the script failed, 2 something would change (with
            --check), 5 a limit was passed, 64 wrong usage, 65 the script does not parse or
            the database is none, 74 a file cannot be used, 75 the database is locked, 130
            Ctrl-C.
            """)

    @Option(
        name: .customShort("e"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Run this text, before FILE; may be given several times.", valueName: "code"))
    var code: [String] = []

    @Option(
        help: ArgumentHelp("The database; a file is made if there is none, but not for --preview.", valueName: "path"))
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

    @Option(
        help: ArgumentHelp("Write each SQL statement to standard error: statements, if not said, or profile.", valueName: "what"))
    var trace: TraceDetail?

    @Flag(help: "Show bound values in the trace.")
    var traceValues = false

    @Option(
        help: ArgumentHelp("Tell which statements take longer than that, with their plans.", valueName: "time"),
        transform: OptionValue.duration)
    var slow: Duration?

    @Flag(help: "Run on a private copy, and report what would change.")
    var preview = false

    @Option(help: ArgumentHelp("Write the changes of the preview as a plan.", valueName: "plan"))
    var save: String?

    @Flag(help: "End with status 2 if the preview would change anything.")
    var check = false

    @Option(help: "How the report of the preview is written.")
    var format: PreviewFormat?

    @Option(help: ArgumentHelp("Show so many rows of each kind for a table.", valueName: "count"))
    var rows: Int?

    @Flag(help: "Let the previewed script change files and run programs.")
    var allowEffects = false

    @OptionGroup var creating: CreateOption

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
        // A context that cannot be told is an error when the command runs.
        if !preview, (try? CommandContext(common.context))?.context != .preview {
            let options = [
                ("--save", save != nil), ("--check", check), ("--format", format != nil), ("--rows", rows != nil),
                ("--allow-effects", allowEffects), ("--create", creating.create),
            ]
            if let (name, _) = options.first(where: \.1) { throw ValidationError("\(name) is for --preview") }
        } else if readonly {
            throw ValidationError("--preview shows changes, which --readonly does not allow")
        }
        if traceValues, trace == nil, slow == nil { throw ValidationError("--trace-values is for --trace and --slow") }
        if save == "" { throw ValidationError("--save: expected the path of a file, got nothing") }
        if let rows, !(0...10_000).contains(rows) { throw ValidationError("--rows: expected a number from 0 to 10000") }
    }

    func run() async throws {
        let context = try CommandContext(common.context)
        let request = try makeRequest(in: context)
        let colours = CommandOutput.errorColours(common.color)
        if common.verbose {
            CommandOutput.note("database: \(request.database ?? "private, in memory")", colours)
            if let file { CommandOutput.note("script: \(file)", colours) }
        }
        if let database, request.database == nil, database != ":memory:" {
            CommandOutput.note("this is a test: \(database) is left alone, and the database is an empty one in memory", colours)
        }
        let status = try await context.run { try await ScriptRunner(request: request, colours: colours).run() }
        try StandardStreams.flush()
        if status != 0 { throw ExitCode(status) }
    }

    func makeRequest(in context: CommandContext) throws -> ScriptRequest {
        var sources = code.enumerated().map { ScriptSource.code($1, number: $0 + 1) }
        if let file { sources.append(file == "-" ? .standardInput : .file(file)) }
        var request = ScriptRequest(sources: sources, arguments: RawArguments.bytes(ofLast: arguments))
        request.database = try OptionValue.databasePath(database)
        request.isReadonly = readonly
        request.isSandboxed = sandbox
        request.timeout = timeout
        request.memoryInBytes = memory
        request.trace = TraceRequest(detail: trace, showsValues: traceValues, slow: slow)
        request.colour = common.color
        if preview || context.context == .preview {
            request.preview = previewRequest
            request.makesDatabase = creating.create
        }
        if context.context == .test { request.database = nil }
        return request
    }

    private var previewRequest: PreviewRequest {
        var request = PreviewRequest(planPath: save, isChecking: check, allowsEffects: allowEffects)
        if let format { request.format = format }
        if let rows { request.rowLimit = rows }
        return request
    }
}
