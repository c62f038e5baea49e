import ArgumentParser
internal import Perilune

struct AutomationsCommand: ParsableCommand, DatabaseCommand {
    static let databaseHelp = "The database; a private one in memory if none is given."

    static let configuration = CommandConfiguration(
        commandName: "automations",
        abstract: "Run the automations of a file, and look at what they have done.",
        discussion: """
            A file of automations is a Lua script that calls perilune.automation{ name =,
            on =, run = } for each. What they do is kept in the table
            perilune_automation_run of the database.

            A run by hand, or in a preview, sees in context.value what the automation
            observes now, as if it had changed.

            EXAMPLES:
              perilune automations list stock.lua --database shop.sqlite
              perilune automations run stock.lua --database shop.sqlite
              perilune automations run stock.lua "low stock" --database shop.sqlite
              perilune automations preview stock.lua "low stock" --database shop.sqlite
              perilune automations trace --database shop.sqlite --last 5
            """,
        subcommands: [List.self, Trace.self, Run.self, Preview.self])

    /// What the subcommands have in common.
    struct Options: ParsableArguments {
        @OptionGroup var database: DatabaseOption<AutomationsCommand>
        @OptionGroup var context: ContextOptions
        @OptionGroup var common: CommonOptions

        func makeRequest(_ file: String? = nil, limits: ScriptLimitOptions? = nil) -> ScriptRequest {
            var request = ScriptRequest(sources: file.map { [.file($0)] } ?? [], arguments: [])
            request.database = database.path
            limits?.apply(to: &request)
            request.color = common.color
            return request
        }

        /// Runs a request, and ends the command if it says so.
        func run(_ request: ScriptRequest) async throws {
            let context = try context.resolved()
            if request.preview == nil, !request.usesCopy, let database = request.database {
                try context.requireLive("automations", database: database)
            }
            let runner = ScriptRunner(request: request, colors: common.errorColors)
            let status = try await context.run { try await runner.run() }
            try StandardStreams.flush()
            if status != 0 { throw ExitCode(status) }
        }
    }

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Show the automations of a file, and how each ran last.",
            discussion: "The file runs on a private copy of the database, which is only read.")

        @Argument(help: "The file of automations.")
        var file: String

        @Option(help: "How the table is written.")
        var format: ResultFormat?

        @OptionGroup var creating: CreateOption
        @OptionGroup var limits: ScriptLimitOptions
        @OptionGroup var options: Options

        func run() async throws {
            var request = options.makeRequest(file, limits: limits)
            request.usesCopy = true
            request.makesDatabase = creating.create
            let table = AutomationTable(format: format, color: options.common.color)
            request.task = { [file] host in
                try await host.loadAutomations(file: file, isLive: false)
                try await table.write(host.automations())
            }
            try await options.run(request)
        }
    }

    struct Trace: AsyncParsableCommand {
        static let configuration = CommandConfiguration(commandName: "trace", abstract: "Show the last runs that the database keeps, the newest last.")

        @Argument(help: "Only those of this automation.")
        var name: String?

        @Option(help: ArgumentHelp("Show so many.", valueName: "count"))
        var last = 20

        @Option(help: "How the table is written.")
        var format: ResultFormat?

        @OptionGroup var options: Options

        func validate() throws {
            if options.database.path == nil { throw ValidationError("expected --database with the path of a file") }
            guard (1...100_000).contains(last) else { throw ValidationError("--last: expected a number from 1 to 100000") }
        }

        func run() async throws {
            var request = options.makeRequest()
            request.isReadonly = true
            let table = AutomationTable(format: format, color: options.common.color)
            request.task = { [name, last] host in
                try await table.write(host.automationRuns(of: name, last: last).reversed())
            }
            try await options.run(request)
        }
    }

    struct Run: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "run",
            abstract: "Run automations when they are set off, until Ctrl-C; or one of them now.",
            discussion: """
                The file is loaded again when it changes, and all that its former version has
                started ends. If it fails, the former version goes on.

                Ctrl-C and SIGTERM end it with status 0: what runs is interrupted where it
                waits, and kept as cancelled; what does not end within five seconds is
                cancelled. A second Ctrl-C ends it at once.

                The automations of a file run on a database in one process only.

                What other processes write is noticed within a second, or within --poll. An
                automation on a whole table has all its rows read then: for large ones
                let it observe a request.
                """)

        @Argument(help: "The file of automations.")
        var file: String

        @Argument(help: "Run this one now, guard included, and end.")
        var name: String?

        @Option(help: ArgumentHelp("How often to look whether another process has written: a time, or never.", valueName: "time"))
        var poll = "1s"

        @OptionGroup var creating: CreateOption
        @OptionGroup var limits: ScriptLimitOptions
        @OptionGroup var options: Options

        func validate() throws { _ = try pollingPeriod() }

        private func pollingPeriod() throws -> Duration? {
            poll == "never" ? nil : try OptionValue.duration(poll)
        }

        func run() async throws {
            let period = try pollingPeriod()
            var request = options.makeRequest(file, limits: limits)
            request.makesDatabase = creating.create
            // Ctrl-C is how a service ends; of one run it is the end before its time.
            request.gracefulStopStatus = name == nil ? ExitStatus.success : ExitStatus.interrupted
            let colors = options.common.errorColors
            request.task = { [file, name, database = request.database] host in
                guard let name else {
                    try AutomationLock.take(of: file, on: database)
                    let service = AutomationService(file: file, database: database, host: host, poll: period, colors: colors)
                    return try await service.run()
                }
                try await host.loadAutomations(file: file, isLive: false)
                try await Self.runOnce(name, host, colors)
            }
            try await options.run(request)
        }

        static func runOnce(_ name: String, _ host: ScriptHost, _ colors: Colors) async throws {
            let result = try await host.runAutomation(name)
            let reason = result.reason.map { " (\($0))" } ?? ""
            CommandOutput.note("\(name): \(result.outcome)\(reason)", colors)
        }
    }

    struct Preview: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "preview",
            abstract: "Run one automation now, guard included, on a private copy, and show what it would change.")

        @Argument(help: "The file of automations.")
        var file: String

        @Argument(help: "Which automation.")
        var name: String

        @OptionGroup var report: PreviewReportOptions

        @OptionGroup var creating: CreateOption
        @OptionGroup var limits: ScriptLimitOptions
        @OptionGroup var options: Options

        func run() async throws {
            var request = options.makeRequest(file, limits: limits)
            request.makesDatabase = creating.create
            var preview = PreviewRequest(planPath: nil, isChecking: false, allowsEffects: false)
            report.apply(to: &preview)
            request.preview = preview
            let colors = options.common.errorColors
            request.task = { [file, name] host in
                try await host.loadAutomations(file: file, isLive: false)
                try await Run.runOnce(name, host, colors)
            }
            try await options.run(request)
        }
    }
}
