import ArgumentParser
internal import Perilune

/// The command `perilune run`.
struct RunCommand: AsyncParsableCommand, DatabaseCommand, IsolatingCommand {
    static let databaseHelp = "The database file, created if it does not exist, except with --preview."

    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run a Lua script against a database.",
        discussion: """
            The script finds the database in `db`, its arguments in `...` and `arg`, and
            modules in the folder of its file and in the paths of the environment variable
            LUA_PATH. If neither --database nor PERILUNE_DATABASE nor a perilune.toml names
            a database, it uses a temporary one in memory.

            Arguments are strings, also NAME=8: the script reads `tonumber((...))`, or takes
            NAME=VALUE apart with `(...):match("^(%w+)=(.*)$")`.

            Options come before FILE or directly after it. The first argument after FILE
            that is not an option, and all that follow it, are passed to the script. Of
            these, options of `perilune run` such as --database, and names that resemble
            them, are refused. Put `--` after FILE to pass options to the script:
            `perilune run FILE -- 2026-03 --database x`.

            EXAMPLES:
              perilune run report.lua --database shop.sqlite 2026-03
              echo 'print(db:fetch_value("SELECT 6 * 7"))' | perilune run -
              perilune run --sandbox --timeout 2s --memory 64M untrusted.lua
              perilune run --database shop.sqlite -e 'db:execute("VACUUM")'

            A script that begins with `#!/usr/bin/env -S perilune run` can be executed
            directly. With `perilune run --`, it receives all arguments, also options.

            ISOLATION: With --sandbox the script runs in a process of its own, from which the
            system takes files, networks and programs, as far as it can (`perilune doctor`
            says what it can). Whatever the script does, that process ends with it.
            --require-layers seccomp,landlock does not run it without these.

            PREVIEW: With --preview the script runs on a private copy of the database, and
            a report shows what it would change: rows before and after, and the schema. The
            database itself is only read. A previewed script cannot open other database
            files, change files, run programs or load native modules; --allow-effects allows
            the last three, which act for real: files, and databases that a native module
            opens by itself, are changed, and the report does not show it. --save writes the
            changes to a plan file for `perilune apply`. With --format json only the report
            goes to standard output; what the script prints goes to standard error.

              perilune run close.lua --database shop.sqlite --preview --save close.plan
              perilune run close.lua --database shop.sqlite --preview --check || echo work

            TRACE: --trace shows each SQL statement when it starts, --trace profile when it
            ends, with its duration. --slow 100ms lists the statements that took longer,
            with their query plans, when the script ends.

            EXIT STATUS: 0 success, 1 the script failed, 2 something would change (with
            --check), 5 a limit was exceeded, 64 usage error, 65 the script does not parse
            or the file is not a database, 74 a file cannot be used, 75 the database is
            locked, 130 Ctrl-C or another signal that ends the script.
            """.paragraphs)

    @Option(
        name: .customShort("e"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("Run this Lua code, before FILE, and print the values that it returns; repeatable.", valueName: "code")
    )
    var code: [String] = []

    @OptionGroup var database: DatabaseOption<RunCommand>

    @Flag(help: "Use no database, and define no global `db`: for scripts that open databases with a library of their own.")
    var noDatabase = false

    @Flag(help: "Visit keys of tables in a fixed order, as in tests and previews.")
    var deterministic = false

    @Flag(help: "Open the database read-only.")
    var readonly = false

    @Flag(help: "Run again whenever the script, or a file that it uses, changes.")
    var watch = false

    @OptionGroup var limits: ScriptLimitOptions
    @OptionGroup var isolating: IsolationOptions
    @OptionGroup var tracing: TraceOptions
    @OptionGroup var previewing: PreviewOptions
    @OptionGroup var context: ContextOptions
    @OptionGroup var common: CommonOptions

    @Argument(help: "The script; - reads standard input.", completion: .file(extensions: ["lua"]))
    var file: String?

    @Argument(parsing: .captureForPassthrough, help: "The arguments of the script.")
    var arguments: [String] = []

    func validate() throws {
        guard file != nil || !code.isEmpty else {
            throw ValidationError("expected a FILE, - for standard input, or -e CODE")
        }
        try isolating.validate(isSandboxed: limits.sandbox)
        if noDatabase {
            if database.isGiven { throw ValidationError("--no-database cannot be combined with --database") }
            if previewing.preview { throw ValidationError("--no-database cannot be combined with --preview") }
            if readonly { throw ValidationError("--no-database cannot be combined with --readonly") }
        }
        if file == "" { throw ValidationError("expected the path of a script, got nothing") }
        if watch, file == nil || file == "-" { throw ValidationError("expected a FILE to watch, got \(file ?? "-e")") }
        // An invalid context is not an error here, because `run` reports it.
        if !previewing.preview, (try? context.resolved())?.context != .preview {
            if let name = previewing.firstForPreview { throw ValidationError("\(name) requires --preview") }
        } else if readonly {
            throw ValidationError("--preview cannot be combined with --readonly")
        }
    }

    func run() async throws {
        if watch { return try runWatched() }
        let context = try context.resolved()
        let request = makeRequest(in: context)
        let colors = common.errorColors
        if isolating.isolates(request), try await SupervisedRun.run(request, isolating, colors) { return }
        if common.verbose {
            let isReplaced = database.path != nil && request.database == nil
            CommandOutput.note(
                noDatabase ? "database: none" : isReplaced ? "database: private, in memory" : database.note, colors)
            if let file { CommandOutput.note("script: \(file)", colors) }
            for note in limits.notes + [self.context.note].compactMap({ $0 }) { CommandOutput.note(note, colors) }
        }
        try await RunCommand.run(request, in: context, database: noDatabase ? nil : database.path, colors)
    }

    /// Runs a request, and throws `ExitCode` if its status is not 0.
    ///
    /// - Parameter database: The database from the options or the settings, which the test context replaces by an empty one.
    static func run(_ request: ScriptRequest, in context: CommandContext, database: String?, _ colors: Colors) async throws {
        if let database, request.database == nil {
            CommandOutput.note("test context: using an empty database in memory instead of \(database)", colors)
        }
        let status = try await context.run { try await ScriptRunner(request: request, colors: colors).run() }
        try StandardStreams.flush()
        if status != 0 { throw ExitCode(status) }
    }

    private func runWatched() throws {
        let words = WatchSession.arguments(of: Array(CommandLine.arguments.dropFirst()))
        // The arguments of the script come last. Their raw bytes are passed on, because they may be invalid UTF-8.
        let own = words.dropLast(arguments.count).map { Array($0.utf8) }
        let session = WatchSession(
            arguments: own + RawArguments.bytes(ofLast: arguments), file: file ?? "", colors: common.errorColors)
        throw ExitCode(try session.run())
    }

    func makeRequest() throws -> ScriptRequest { try makeRequest(in: context.resolved()) }

    func makeRequest(in context: CommandContext) -> ScriptRequest {
        var request = ScriptRequest(
            code: code, file: file, arguments: arguments, database: noDatabase ? nil : database.path, in: context)
        request.definesGlobalDatabase = !noDatabase
        request.isReadonly = readonly
        request.isDeterministic = deterministic
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

extension ScriptRequest {
    /// Creates a request for code, a file or both, and a database.
    init(code: [String] = [], file: String?, arguments: [String], database: String?, in context: CommandContext) {
        var sources = code.enumerated().map { ScriptSource.code($1, number: $0 + 1) }
        if let file { sources.append(file == "-" ? .standardInput : .file(file)) }
        self.init(sources: sources, arguments: RawArguments.bytes(ofLast: arguments))
        // In the test context, scripts never use the given database.
        self.database = context.context == .test ? nil : database
    }
}
