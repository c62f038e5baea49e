import ArgumentParser
internal import Perilune

struct RunCommand: AsyncParsableCommand, DatabaseCommand {
    static let databaseHelp = "The database; a file is made if there is none, but not for --preview."

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

    @OptionGroup var database: DatabaseOption<RunCommand>

    @Flag(help: "Open the database for reading only.")
    var readonly = false

    @OptionGroup var limits: ScriptLimitOptions
    @OptionGroup var tracing: TraceOptions
    @OptionGroup var previewing: PreviewOptions
    @OptionGroup var context: ContextOptions
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
        // The command itself reports a variable that names no context.
        if !previewing.preview, (try? context.resolved())?.context != .preview {
            if let name = previewing.firstForPreview { throw ValidationError("\(name) is for --preview") }
        } else if readonly {
            throw ValidationError("--preview shows changes, which --readonly does not allow")
        }
    }

    func run() async throws {
        let context = try context.resolved()
        let request = makeRequest(in: context)
        let colors = common.errorColors
        if common.verbose {
            CommandOutput.note("database: \(request.database ?? "private, in memory")", colors)
            if let file { CommandOutput.note("script: \(file)", colors) }
        }
        if let path = database.path, request.database == nil {
            CommandOutput.note("this is a test: \(path) is left alone, and the database is an empty one in memory", colors)
        }
        let status = try await context.run { try await ScriptRunner(request: request, colors: colors).run() }
        try StandardStreams.flush()
        if status != 0 { throw ExitCode(status) }
    }

    func makeRequest(in context: CommandContext) -> ScriptRequest {
        var sources = code.enumerated().map { ScriptSource.code($1, number: $0 + 1) }
        if let file { sources.append(file == "-" ? .standardInput : .file(file)) }
        var request = ScriptRequest(sources: sources, arguments: RawArguments.bytes(ofLast: arguments))
        request.database = context.context == .test ? nil : database.path
        request.isReadonly = readonly
        limits.apply(to: &request)
        request.trace = tracing.request
        request.color = common.color
        if previewing.preview || context.context == .preview {
            request.preview = previewing.request
            request.makesDatabase = previewing.creating.create
        }
        return request
    }
}
